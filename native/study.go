package native

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

// study is what is known of a testcase from one run in which its comparisons were recorded. It is the testcase's note.
type study struct {
	swaps    []swap
	next     int      // the first swap that was not tried as it is
	mended   int      // the first that was not tried with checksums made right
	tokens   []string // what the program compared with, and the testcase does not hold
	sites    []uint32 // where numbers of the testcase are compared with ones that it computes, and are right: checksums
	past     *past    // nil: nothing is recorded
	searched bool     // for what turns comparisons of numbers that it computes
}

// swap is a candidate: the testcase with one text in the place of another.
type swap struct {
	at, length int
	text       string
}

func (s swap) apply(dst, src []byte) []byte {
	return append(append(append(dst[:0], src[:s.at]...), s.text...), src[s.at+s.length:]...)
}

const (
	maxSwaps  = 4096 // of one testcase
	maxSeen   = 6    // testcases on which the same pair is tried
	maxPlaces = 6    // at which the same text is replaced
	maxTokens = 64   // of one testcase
)

// studied returns the study of a testcase and makes it if there is none.
func studied(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) (*study, error) {
	if s, ok := tc.Note.(*study); ok {
		return s, nil
	}
	obs, err := w.Probe(ctx, [][]byte{tc.Input}, teasel.Ask{Operands: true})
	if err != nil {
		return nil, err
	}
	s := &study{}
	if rec, ok := obs[0].Note.(*Recording); ok {
		s.past = rec.past
		s.past.note(rec)
		s.learn(tc.Input, obs[0].Operands, rec)
	}
	tc.Note = s
	return s, nil
}

// learn makes candidates of what was compared: input-to-state correspondence, as in RedQueen (NDSS 2019). What was rarely
// seen comes first.
func (s *study) learn(in []byte, ops []teasel.Operand, rec *Recording) {
	b := builder{in: in, known: map[swap]bool{}, tokens: map[string]bool{}}
	texts, numbers := make([]uint8, len(rec.Texts)), make([]uint8, len(ops))
	for i, t := range rec.Texts {
		texts[i] = rec.past.count(pair{site: t.Site, a: t.A, b: t.B})
	}
	for i, op := range ops {
		numbers[i] = rec.past.count(pair{site: op.Site, x: op.A, y: op.B})
	}
	for level := range uint8(maxSeen) {
		for i, t := range rec.Texts {
			if texts[i] == level && !slices.ContainsFunc(rec.Texts[:i], func(x Text) bool { return x.A == t.A && x.B == t.B }) {
				b.text(t.A, t.B)
				b.text(t.B, t.A)
			}
		}
		for i, op := range ops {
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

// holds reports whether a number that says something stands in the input, in either byte order.
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
	swaps  []swap
	known  map[swap]bool
	found  []string
	tokens map[string]bool
}

// replace adds wanted in the places where found stands.
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
		if s := (swap{at, len(found), wanted}); !b.known[s] {
			b.known[s] = true
			b.swaps = append(b.swaps, s)
		}
		at++
	}
}

func (b *builder) token(t string) {
	if len(t) < 2 || len(b.found) == maxTokens || b.tokens[t] || bytes.Contains(b.in, []byte(t)) || plain(t) {
		return
	}
	b.tokens[t] = true
	b.found = append(b.found, t)
}

// plain reports whether a token is of one byte only but for its zeros: a small number.
func plain(t string) bool {
	n := 0
	for i := range len(t) {
		if t[i] != 0 && t[i] != 0xff {
			n++
		}
	}
	return n < 2
}

// text tries wanted where found, or its beginning, stands: over as many bytes, and instead of found.
func (b *builder) text(found, wanted string) {
	b.token(wanted)
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

// overwrite adds wanted over the bytes from found on.
func (b *builder) overwrite(found []byte, wanted string) {
	if i := bytes.Index(b.in, found); i >= 0 && len(b.swaps) < maxSwaps {
		if s := (swap{i, min(len(wanted), len(b.in)-i), wanted}); !b.known[s] {
			b.known[s] = true
			b.swaps = append(b.swaps, s)
		}
	}
}

// number tries both sides in the place of each other, in fewer bytes too if both fit, in either byte order and in digits.
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

// others are the tokens of a testcase and those of another, each once: common ones would crowd out the rest.
func others(w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) []string {
	var lists [2][]string
	for i, x := range [2]*teasel.Testcase[[]byte]{tc, w.Other(tc)} {
		if x == nil {
			continue
		}
		if s, ok := x.Note.(*study); ok {
			lists[i] = s.tokens
		}
	}
	a, b := lists[0], lists[1] // both are sorted
	if len(b) == 0 {
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := cmp.Compare(a[0], b[0])
		if c <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out = append(out, b[0])
		}
		if c >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}
