package mutate

import "strings"

// Complexity weighs the nodes of a tree and the bytes of its texts and names: a null least, then false and true,
// numbers and strings by their length, arrays and objects by what is in them, raw text above the JSON that it could be.
// Of texts of one length, those with more '0' are a little simpler; escapes that need not be count a little.
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

// complexity is above zero where a text is not spelt as we would.
func (r *verbatim) complexity(text string) float64 {
	token := r.spelling(text)
	if token == "" {
		return 0
	}
	return 0.125 + float64(len(token))/16
}
