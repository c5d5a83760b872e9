package operands

// Swap is a part of an input that the program has compared, and what may stand in its place.
type Swap struct {
	At, Length int
	Text       string
}

// Swaps returns what InputToState would try on an input of which rec was recorded, for kinds whose inputs are more than bytes:
// in is all the bytes of one. Pairs that were rarely seen come first.
func Swaps(in []byte, rec *Recording) []Swap {
	s := &study{history: rec.History}
	s.learn(in, rec)
	all := make([]Swap, len(s.swaps))
	for i, x := range s.swaps {
		all[i] = Swap{x.at, x.length, x.text}
	}
	return all
}
