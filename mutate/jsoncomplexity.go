package mutate

import "strings"

// Complexity returns a weighted sum of the nodes of a tree and the bytes of its texts and names. A null is simplest, followed by false
// and true; numbers and strings count by their length, arrays and objects by their contents, raw text more than the JSON that it may
// contain. Of texts with the same length, those with more '0' are slightly simpler; unnecessary escapes add a little.
func (t *JSONTree) Complexity(v *JSON) float64 {
	const node = 4
	if v == nil {
		return node
	}
	switch v.Kind {
	case Bool:
		if v.Text == "false" {
			return node + 1
		}
		return node + 2
	case Number:
		return node + 2 + textComplexity(v.Text)
	case String:
		return node + 2 + textComplexity(v.Text) + v.read.complexity(v.Text)
	case Raw:
		return node + 8 + textComplexity(v.Text)
	case Array:
		sum := node + 3.0
		for _, item := range v.Items {
			sum += t.Complexity(item)
		}
		return sum
	case Object:
		sum := node + 3.0
		for _, m := range v.Members {
			sum += 1 + textComplexity(m.Name) + m.read.complexity(m.Name) + t.Complexity(m.Value)
		}
		return sum
	}
	return node
}

func textComplexity(text string) float64 {
	return float64(len(text)) + float64(len(text)-strings.Count(text, "0"))/float64(len(text)+1)
}

// complexity is above zero if text has an original token that differs from the one that Append would write.
func (r *verbatim) complexity(text string) float64 {
	token := r.spelling(text)
	if token == "" {
		return 0
	}
	return 0.125 + float64(len(token))/16
}
