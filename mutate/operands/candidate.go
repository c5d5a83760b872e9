package operands

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

// analysis holds the results of one execution of a testcase in which its comparisons were recorded. It is the testcase's note.
type analysis struct {
	swaps    []Swap
	next     int      // index of the first swap that was not tried yet
	repaired int      // index of the first swap that was not tried with corrected checksums
	tokens   []string // values that the program compares and the testcase does not contain, sorted
	sites    []uint32 // sites at which numbers in the testcase equal computed numbers: checksums
	history  *History // nil: nothing was recorded
	searched bool     // the gradient stage has worked on the testcase
}

// A Swap is a candidate: the replacement of some bytes of an input by a text.
type Swap struct {
	At, Length int
	Text       string
}

// apply returns src after the swap, and uses the memory of dst if that is large enough.
func (s Swap) apply(m teasel.Mutator[[]byte], dst, src []byte) []byte {
	return splice(m, dst, src, s.At, s.Length, s.Text)
}

const (
	maxSwaps  = 4096 // swaps of a testcase
	maxSeen   = 6    // testcases for which the same pair is tried
	maxPlaces = 6    // occurrences at which the same text is replaced
	maxTokens = 64   // tokens of a testcase
)

// analysisOf returns the analysis of a testcase. If there is none, it makes one, which costs an execution.
func analysisOf(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) (*analysis, error) {
	if s, ok := tc.Note.(*analysis); ok {
		return s, nil
	}
	obs, err := w.Probe(ctx, [][]byte{tc.Input}, teasel.Ask{Operands: true})
	if err != nil {
		return nil, err
	}
	s := &analysis{}
	if rec := recordingOf(&obs[0]); rec != nil {
		s.history = rec.History
		s.history.add(rec)
		s.learn(tc.Input, rec)
	}
	tc.Note = s
	return s, nil
}

// Recorded reports whether comparisons were recorded for a testcase, that is whether its target records them. The first call of it, or
// of a stage of this package, for a testcase costs an execution.
func Recorded(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) (bool, error) {
	s, err := analysisOf(ctx, w, tc)
	return err == nil && s.history != nil, err
}

// Swaps returns the candidates that [InputToState] would try for an input with the recording rec. It is for kinds whose inputs are more
// than bytes; in is the concatenation of all bytes of an input. Candidates of rarely seen pairs come first.
func Swaps(in []byte, rec *Recording) []Swap {
	s := &analysis{history: rec.History}
	s.learn(in, rec)
	return s.swaps
}

// learn derives candidates from a recording: input-to-state correspondence, as in RedQueen (NDSS 2019). Candidates of rarely seen pairs
// come first. Pairs that were seen equally often take turns: of a slow target a turn runs only some candidates, and those of one pair
// may be many.
func (s *analysis) learn(in []byte, rec *Recording) {
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
		begin, ends := len(b.swaps), []int(nil)
		for i, t := range rec.Texts {
			if texts[i] == level && !slices.ContainsFunc(rec.Texts[:i], func(x Text) bool { return x.A == t.A && x.B == t.B }) {
				b.text(t.A, t.B)
				b.text(t.B, t.A)
				ends = append(ends, len(b.swaps)-begin)
			}
		}
		for i, op := range rec.Numbers {
			if numbers[i] == level {
				b.number(op)
				ends = append(ends, len(b.swaps)-begin)
			}
		}
		takeTurns(b.swaps[begin:], ends)
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

// holds reports whether a number occurs in the input, in either byte order. It returns false for small numbers, which occur too often.
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

// takeTurns reorders the swaps of several pairs: the first of each comes first, then the second of each, and so on. ends are where the
// swaps of each pair end.
func takeTurns(swaps []Swap, ends []int) {
	all := slices.Clone(swaps)
	out := swaps[:0]
	for n := 0; len(out) < len(all); n++ {
		from := 0
		for _, end := range ends {
			if from+n < end {
				out = append(out, all[from+n])
			}
			from = end
		}
	}
}

// swap adds a swap, unless it is known or there are maxSwaps already.
func (b *builder) swap(s Swap) {
	if !b.known[s] && len(b.swaps) < maxSwaps {
		b.known[s] = true
		b.swaps = append(b.swaps, s)
	}
}

// replace adds swaps of the occurrences of found for wanted.
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

// smallNumber reports whether at most one byte of a token is neither 0x00 nor 0xff.
func smallNumber(t string) bool {
	n := 0
	for i := range len(t) {
		if t[i] != 0 && t[i] != 0xff {
			n++
		}
	}
	return n < 2
}

// text adds swaps for the occurrences of found, or of its beginning: wanted replaces found, and overwrites as many bytes as it has itself.
// An empty text occurs at the end of the input.
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

// number adds swaps of each operand for the other: in either byte order, in fewer bytes if both fit, and in decimal digits.
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

// fits reports whether an integer of size bytes is the zero or sign extension of its low n bytes.
func fits(v uint64, n, size int) bool {
	shift := 64 - 8*size
	return v<<shift>>shift>>(8*n) == 0 || int64(v<<shift)>>shift == int64(v<<(64-8*n))>>(64-8*n)
}
