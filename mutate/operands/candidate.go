package operands

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

// study is what is known of a testcase from one execution in which its comparisons were recorded. It is the testcase's note.
type study struct {
	swaps    []Swap
	next     int      // the first swap that was not tried as it is
	repaired int      // the first that was not tried with checksums made right
	tokens   []string // what the program compared with and the testcase does not hold, sorted
	sites    []uint32 // where numbers of the testcase are compared with computed ones, and are equal: checksums
	history  *History // nil: nothing was recorded
	searched bool     // by the gradient stage
}

// A Swap is a candidate: an input with a text in the place of so many of its bytes from some place on.
type Swap struct {
	At, Length int
	Text       string
}

// apply returns src with the swap made, in the memory of dst where that is large enough.
func (s Swap) apply(m teasel.Mutator[[]byte], dst, src []byte) []byte {
	return splice(m, dst, src, s.At, s.Length, s.Text)
}

const (
	maxSwaps  = 4096 // of one testcase
	maxSeen   = 6    // testcases on which the same pair is tried
	maxPlaces = 6    // at which the same text is replaced
	maxTokens = 64   // of one testcase
)

// studyOf returns the study of a testcase and makes it, with one execution, if there is none.
func studyOf(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) (*study, error) {
	if s, ok := tc.Note.(*study); ok {
		return s, nil
	}
	obs, err := w.Probe(ctx, [][]byte{tc.Input}, teasel.Ask{Operands: true})
	if err != nil {
		return nil, err
	}
	s := &study{}
	if rec := recordingOf(&obs[0]); rec != nil {
		s.history = rec.History
		s.history.add(rec)
		s.learn(tc.Input, rec)
	}
	tc.Note = s
	return s, nil
}

// Recorded reports whether anything is recorded of a testcase: whether its target says what it compares. It costs an
// execution the first time that it, or a stage of this package, is called for the testcase.
func Recorded(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) (bool, error) {
	s, err := studyOf(ctx, w, tc)
	return err == nil && s.history != nil, err
}

// Swaps returns what [InputToState] would try on an input of which rec was recorded, for kinds whose inputs are more than bytes:
// in is all the bytes of one. Pairs that were rarely seen come first.
func Swaps(in []byte, rec *Recording) []Swap {
	s := &study{history: rec.History}
	s.learn(in, rec)
	return s.swaps
}

// learn makes candidates of what was compared: input-to-state correspondence, as in RedQueen (NDSS 2019). Pairs that were
// rarely seen come first.
func (s *study) learn(in []byte, rec *Recording) {
	b := builder{in: in, known: map[Swap]bool{}, tokens: map[string]bool{}}
	texts, numbers := make([]uint8, len(rec.Texts)), make([]uint8, len(rec.Numbers))
	for i, t := range rec.Texts {
		texts[i] = rec.History.count(pair{site: t.Site, a: t.A, b: t.B})
	}
	for i, op := range rec.Numbers {
		if numbers[i] = maxSeen; op.A != op.B {
			numbers[i] = rec.History.count(pair{site: op.Site, x: op.A, y: op.B})
		}
	}
	for level := range uint8(maxSeen) {
		for i, t := range rec.Texts {
			if texts[i] == level && !slices.ContainsFunc(rec.Texts[:i], func(x Text) bool { return x.A == t.A && x.B == t.B }) {
				b.text(t.A, t.B)
				b.text(t.B, t.A)
			}
		}
		for i, op := range rec.Numbers {
			if numbers[i] == level {
				b.number(op)
			}
		}
	}
	slices.Sort(b.found)
	s.swaps, s.tokens = b.swaps, b.found
	for _, op := range rec.Numbers {
		if op.A != op.B || op.Const || slices.Contains(s.sites, op.Site) || !holds(in, op.A, int(op.Size)) {
			continue
		}
		s.sites = append(s.sites, op.Site)
	}
}

// holds reports whether a number stands in the input, in either byte order. Small numbers do not count: they stand everywhere.
func holds(in []byte, n uint64, size int) bool {
	if n < 1<<16 && size != 2 || n < 1<<5 || size == 1 {
		return false
	}
	return bytes.Contains(in, encode(n, size, false)) || bytes.Contains(in, encode(n, size, true))
}

func encode(n uint64, size int, big bool) []byte {
	var b [8]byte
	if big {
		binary.BigEndian.PutUint64(b[:], n)
		return b[8-size:]
	}
	binary.LittleEndian.PutUint64(b[:], n)
	return b[:size]
}

// builder collects the swaps and tokens of a testcase.
type builder struct {
	in     []byte
	swaps  []Swap
	known  map[Swap]bool
	found  []string
	tokens map[string]bool
}

// swap adds a swap, unless it is known or there are enough.
func (b *builder) swap(s Swap) {
	if !b.known[s] && len(b.swaps) < maxSwaps {
		b.known[s] = true
		b.swaps = append(b.swaps, s)
	}
}

// replace adds swaps that put wanted in the places where found stands.
func (b *builder) replace(found []byte, wanted string) {
	if len(found) == 0 || string(found) == wanted {
		return
	}
	for at, n := 0, 0; n < maxPlaces && len(b.swaps) < maxSwaps; n++ {
		i := bytes.Index(b.in[at:], found)
		if i < 0 {
			return
		}
		at += i
		b.swap(Swap{at, len(found), wanted})
		at++
	}
}

func (b *builder) token(t string) {
	if len(t) < 2 || len(b.found) == maxTokens || b.tokens[t] || bytes.Contains(b.in, []byte(t)) || smallNumber(t) {
		return
	}
	b.tokens[t] = true
	b.found = append(b.found, t)
}

// smallNumber reports whether a token has one byte at most that is neither 0x00 nor 0xff.
func smallNumber(t string) bool {
	n := 0
	for i := range len(t) {
		if t[i] != 0 && t[i] != 0xff {
			n++
		}
	}
	return n < 2
}

// text adds swaps for wanted where found, or the beginning of it, stands: in its place, and over as many bytes as wanted has. What
// is empty stands at the end.
func (b *builder) text(found, wanted string) {
	b.token(wanted)
	if found == "" {
		b.swap(Swap{len(b.in), 0, wanted})
	}
	for n := len(found); n > 0; n /= 2 {
		part := []byte(found[:n])
		if !bytes.Contains(b.in, part) {
			continue
		}
		b.replace(part, wanted)
		b.replace(part, wanted+"\x00")
		if len(wanted) != n {
			b.overwrite(part, wanted)
			b.overwrite(part, wanted+"\x00")
		}
		return
	}
}

// overwrite adds a swap that writes wanted over the bytes from found on.
func (b *builder) overwrite(found []byte, wanted string) {
	if i := bytes.Index(b.in, found); i >= 0 {
		b.swap(Swap{i, min(len(wanted), len(b.in)-i), wanted})
	}
}

// number adds swaps for each side in the place of the other, in either byte order, in fewer bytes if both fit, and in digits.
func (b *builder) number(op teasel.Operand) {
	size := int(op.Size)
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return
	}
	b.token(string(encode(op.A, size, false)))
	b.token(string(encode(op.A, size, true)))
	b.numbers(op.B, op.A, size)
	if !op.Const {
		b.numbers(op.A, op.B, size)
	}
}

func (b *builder) numbers(found, wanted uint64, size int) {
	for n := size; n > 0; n /= 2 {
		if n < size && (!fits(found, n, size) || !fits(wanted, n, size)) {
			break
		}
		for order := range min(n, 2) {
			big := order == 1
			f := encode(found, n, big)
			for _, delta := range [3]uint64{0, 1, ^uint64(0)} {
				b.replace(f, string(encode(wanted+delta, n, big)))
			}
		}
	}
	if found >= 10 || wanted >= 10 {
		f := strconv.AppendUint(nil, found, 10)
		for _, delta := range [3]uint64{0, 1, ^uint64(0)} {
			b.replace(f, strconv.FormatUint(wanted+delta, 10))
		}
	}
}

// fits reports whether a number of size bytes is the extension of its low n bytes, by zeros or by its sign.
func fits(v uint64, n, size int) bool {
	shift := 64 - 8*size
	return v<<shift>>shift>>(8*n) == 0 || int64(v<<shift)>>shift == int64(v<<(64-8*n))>>(64-8*n)
}
