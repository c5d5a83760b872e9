package jsonrpc

// SignSet is texts that are looked for together: one look over an ordinary text serves all of them.
type SignSet struct {
	pairs  [1 << 10]uint64 // the set of what they begin with, two bytes each
	begins [256][]string   // the texts, by their first byte
}

// NewSignSet takes texts of two bytes or more.
func NewSignSet(texts ...string) *SignSet {
	s := &SignSet{}
	for _, text := range texts {
		pair := uint16(text[0])<<8 | uint16(text[1])
		s.pairs[pair>>6] |= 1 << (pair & 63)
		s.begins[text[0]] = append(s.begins[text[0]], text)
	}
	return s
}

// In returns the first of the signs that stands in a text, "" if none does.
func (s *SignSet) In(text []byte) string {
	for i := 1; i < len(text); i++ {
		pair := uint16(text[i-1])<<8 | uint16(text[i])
		if s.pairs[pair>>6]>>(pair&63)&1 == 0 {
			continue
		}
		for _, sign := range s.begins[text[i-1]] {
			if rest := text[i-1:]; len(rest) >= len(sign) && string(rest[:len(sign)]) == sign {
				return sign
			}
		}
	}
	return ""
}
