package mutate

// String returns the JSON text.
func (v *JSON) String() string { return string(v.Append(nil)) }

// Append appends the JSON text without white space. A tree that was parsed from text without white space is written as the same bytes.
func (v *JSON) Append(dst []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	switch v.Kind {
	case Bool, Number, Raw:
		return append(dst, v.Text...)
	case String:
		return v.read.append(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = m.read.append(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.Append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// append writes the original token of text if there is one.
func (r *verbatim) append(dst []byte, text string) []byte {
	if token := r.spelling(text); token != "" {
		return append(dst, token...)
	}
	return appendString(dst, text)
}

const hexDigits = "0123456789abcdef"

// appendString quotes text with as few escapes as possible. Bytes that are not valid UTF-8 are written unchanged, except WTF-8
// surrogates, which are written as escapes, so that a strict parser accepts them.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		i := nextSurrogate(text)
		if i < 0 {
			dst = appendEscaped(dst, text)
			return append(dst, '"')
		}
		dst = appendEscaped(dst, text[:i])
		r := surrogateAt(text[i:])
		dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		text = text[i+3:]
	}
}

func appendEscaped(dst []byte, text string) []byte {
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, text[start:]...)
}

// size returns the length of the text that Append writes.
func (v *JSON) size() int {
	if v == nil {
		return len("null")
	}
	switch v.Kind {
	case Bool, Number, Raw:
		return len(v.Text)
	case String:
		return v.read.size(v.Text)
	case Array:
		n := len("[]") + max(0, len(v.Items)-1)
		for _, item := range v.Items {
			n += item.size()
		}
		return n
	case Object:
		n := len("{}") + max(0, len(v.Members)-1)
		for _, m := range v.Members {
			n += m.read.size(m.Name) + len(":") + m.Value.size()
		}
		return n
	}
	return len("null")
}

func (r *verbatim) size(text string) int {
	if token := r.spelling(text); token != "" {
		return len(token)
	}
	n := len(text) + len(`""`)
	for i := range len(text) {
		switch c := text[i]; {
		case c >= ' ' && c != '"' && c != '\\':
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		default:
			n += len(`\u0000`) - 1
		}
	}
	for i := nextSurrogate(text); i >= 0; i = nextSurrogate(text) {
		n += len(`\ud800`) - 3
		text = text[i+3:]
	}
	return n
}

// depth returns the maximum nesting depth of arrays and objects, 0 for a scalar.
func (v *JSON) depth() int {
	if v == nil || v.Kind != Array && v.Kind != Object {
		return 0
	}
	d := 0
	if v.Kind == Array {
		for _, item := range v.Items {
			d = max(d, item.depth())
		}
		return d + 1
	}
	for _, m := range v.Members {
		d = max(d, m.Value.depth())
	}
	return d + 1
}
