package mutate

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func someTokens() *Dictionary {
	d := new(Dictionary)
	d.Add(Other, "TOKEN", "\x00\xff")
	return d
}

// edits returns how many bytes lie between the common prefix and the common suffix of the two.
func edits(a, b []byte) (before, after int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a), len(b)
}

func sortedBytes(b []byte) string {
	c := bytes.Clone(b)
	slices.Sort(c)
	return string(c)
}

func differentBits(a, b []byte) int {
	n := 0
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// TestOperators checks a thousand results of each operator.
func TestOperators(t *testing.T) {
	src := []byte("GET /index.html?id=4711&x=\x01\x02\x03\x04\x05\x06\x07\x08 end of\nthe first\ninput; abcdefghijklmnopqrstuvwxyz")
	other := bytes.ToUpper([]byte("zyxwvutsrqponmlkjihgfedcba second"))
	m := &Bytes{Dictionary: someTokens(), BitRatio: 0.02, ByteRatio: 0.1}
	number := func(size int) func([]byte) error {
		return func(got []byte) error {
			if before, _ := edits(src, got); len(got) != len(src) || before > 1<<size {
				return fmt.Errorf("%d bytes changed", before)
			}
			return nil
		}
	}
	grown := func(got []byte) error {
		if before, after := edits(src, got); before != 0 || after != len(got)-len(src) {
			return fmt.Errorf("not an insertion")
		}
		return nil
	}
	within := func(n int) func([]byte) error {
		return func(got []byte) error {
			if len(got) != len(src) || differentBits(src, got) > n {
				return fmt.Errorf("%d bits changed", differentBits(src, got))
			}
			return nil
		}
	}
	oneByte := func(got []byte) error {
		if before, _ := edits(src, got); before != 1 || len(got) != len(src) {
			return fmt.Errorf("%d bytes changed", before)
		}
		return nil
	}
	permuted := func(got []byte) error {
		if sortedBytes(got) != sortedBytes(src) {
			return fmt.Errorf("not the same bytes")
		}
		return nil
	}
	sameLen := func(got []byte) error {
		if len(got) != len(src) {
			return fmt.Errorf("another length")
		}
		return nil
	}
	has := func(ok func([]byte) bool) func([]byte) error {
		return func(got []byte) error {
			if !ok(got) {
				return fmt.Errorf("the inserted text is missing")
			}
			return nil
		}
	}
	hasToken := has(func(b []byte) bool {
		return bytes.Contains(b, []byte("TOKEN")) || bytes.Contains(b, []byte("\x00\xff"))
	})
	hasOther := has(func(b []byte) bool {
		return bytes.ContainsFunc(b, func(r rune) bool { return r >= 'A' && r <= 'Z' && !strings.ContainsRune("GET", r) }) ||
			!bytes.Equal(b, src)
	})
	checks := map[Operator][]func([]byte) error{
		OpBitFlip:         {within(1)},
		OpBitFlips:        {within(len(src) * 8 / 50)},
		OpByteFlip:        {oneByte, has(func(b []byte) bool { return differentBits(src, b) == 8 })},
		OpByteFlips:       {sameLen, within(len(src) / 10 * 8)},
		OpXor:             {oneByte},
		OpArith8:          {number(0)},
		OpArith16:         {number(1)},
		OpArith32:         {number(2)},
		OpArith64:         {number(3)},
		OpInteresting8:    {number(0)},
		OpInteresting16:   {number(1)},
		OpInteresting32:   {number(2)},
		OpInteresting64:   {number(3)},
		OpCopyInsert:      {grown, has(func(b []byte) bool { return isCopyInsert(src, b) })},
		OpFixedInsert:     {grown},
		OpCopyOverwrite:   {sameLen},
		OpFixedOverwrite:  {sameLen},
		OpDelete:          {has(func(b []byte) bool { _, after := edits(src, b); return after == 0 && len(b) < len(src) && len(b) > 0 })},
		OpInsert:          {grown},
		OpDuplicate:       {grown, has(func(b []byte) bool { return isDuplicate(src, b) })},
		OpRepeat:          {grown, has(func(b []byte) bool { return isRepeat(src, b) })},
		OpLine:            {has(func(b []byte) bool { return isLineEdit(src, b) })},
		OpShuffle:         {permuted},
		OpSwap:            {permuted},
		OpNumber:          {has(func(b []byte) bool { return bytes.HasPrefix(b, src[:19]) || bytes.Contains(b, src[24:]) })},
		OpTokenOverwrite:  {sameLen, hasToken},
		OpTokenInsert:     {grown, hasToken},
		OpSpliceOverwrite: {sameLen, hasOther},
		OpSpliceInsert:    {grown, hasOther},
	}
	r := random(7)
	for _, op := range Operators() {
		if len(checks[op]) == 0 {
			t.Errorf("%s: no check", op)
		}
		changed := 0
		for range 1000 {
			keep := bytes.Clone(src)
			got, ok := m.Apply(r, op, nil, src, other)
			if !bytes.Equal(keep, src) {
				t.Fatalf("%s: wrote to the source", op)
			}
			if ok == bytes.Equal(got, src) {
				t.Fatalf("%s: says changed %v of %q", op, ok, got)
			}
			if !ok {
				continue
			}
			changed++
			for _, check := range checks[op] {
				if err := check(got); err != nil {
					t.Fatalf("%s: %v: %q", op, err, got)
				}
			}
		}
		if changed < 800 {
			t.Errorf("%s: changed only %d of 1000", op, changed)
		}
	}
}

func isDuplicate(src, got []byte) bool {
	n := len(got) - len(src)
	for i := 0; i+n <= len(src); i++ {
		if bytes.Equal(slices.Concat(src[:i+n], src[i:]), got) {
			return true
		}
	}
	return false
}

// isRepeat reports whether the inserted bytes repeat the 1 to 16 bytes before them, up to 4,096 times in all.
func isRepeat(src, got []byte) bool {
	more := len(got) - len(src)
	for at := 1; at <= len(src); at++ {
		if !bytes.HasPrefix(got, src[:at]) || !bytes.HasSuffix(got, src[at:]) {
			continue
		}
		for n := 1; n <= min(at, 16); n++ {
			times := (n + more) / n
			if more%n == 0 && times&(times-1) == 0 && times <= 4096 && bytes.Equal(got[at-n:at+more], bytes.Repeat(src[at-n:at], times)) {
				return true
			}
		}
	}
	return false
}

// isLineEdit reports whether a line is missing, or occurs once more.
func isLineEdit(src, got []byte) bool {
	lines := bytes.SplitAfter(src, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	same := func(edited ...[]byte) bool { return bytes.Equal(slices.Concat(edited...), got) }
	for i, line := range lines {
		if same(slices.Concat(lines[:i], lines[i+1:])...) {
			return true
		}
		for at := range len(lines) + 1 {
			if same(slices.Concat(lines[:at], [][]byte{line}, lines[at:])...) {
				return true
			}
		}
	}
	return false
}

func isCopyInsert(src, got []byte) bool {
	n := len(got) - len(src)
	for i := 0; i <= len(src); i++ {
		if bytes.Equal(got[:i], src[:i]) && bytes.Equal(got[i+n:], src[i:]) && bytes.Contains(src, got[i:i+n]) {
			return true
		}
	}
	return false
}

func TestOperatorsThatDoNotFit(t *testing.T) {
	m := &Bytes{MaxLen: 8}
	r := random(1)
	for _, test := range []struct {
		src  string
		fits []Operator
	}{
		{"", []Operator{OpInsert, OpSpliceInsert}},
		{"x", []Operator{
			OpBitFlip, OpBitFlips, OpByteFlip, OpByteFlips, OpXor, OpArith8, OpInteresting8, OpCopyInsert, OpFixedInsert,
			OpInsert, OpDuplicate, OpRepeat, OpSpliceOverwrite, OpSpliceInsert,
		}},
	} {
		for _, op := range append(Operators(), OpInvalid) {
			ok := false
			for range 50 {
				_, changed := m.Apply(r, op, nil, []byte(test.src), []byte("other"))
				ok = ok || changed
			}
			if ok != slices.Contains(test.fits, op) {
				t.Errorf("%s on %q: changed %v", op, test.src, ok)
			}
		}
	}
	for _, op := range Operators() {
		for range 200 {
			if got, _ := m.Apply(r, op, nil, []byte("12345678"), []byte("other")); len(got) > 8 {
				t.Fatalf("%s made %d bytes of at most 8", op, len(got))
			}
		}
	}
	if got, want := OpTokenInsert.String()+" "+Operator(200).String(), "token-insert operator(200)"; got != want {
		t.Errorf("names %q, want %q", got, want)
	}
}

func TestMutateChangesAndKeepsToItsLimits(t *testing.T) {
	seeds := [][]byte{{}, {0}, []byte("a"), []byte("hello, world"), bytes.Repeat([]byte("0"), 300), []byte("id=1&n=22&x=333")}
	m := &Bytes{MaxLen: 256, Dictionary: someTokens()}
	r := random(3)
	var dst []byte
	for i := range 10000 {
		src := seeds[i%len(seeds)]
		keep := bytes.Clone(src)
		dst = m.Mutate(r, dst, src)
		if bytes.Equal(dst, src) {
			t.Fatalf("mutant %d of %q equals it", i, src)
		}
		if !bytes.Equal(keep, src) || len(dst) > 256 {
			t.Fatalf("mutant %d: source %q, %d bytes", i, src, len(dst))
		}
	}
}

// TestMutateIsPure checks that a mutant depends on the generator and the source only, and not on earlier calls.
func TestMutateIsPure(t *testing.T) {
	used, fresh := &Bytes{}, &Bytes{}
	src := []byte("a source of some length 123")
	var dst []byte
	for i := range uint64(2000) {
		dst = used.Mutate(random(i), dst, src)
		if want := fresh.Clone().Mutate(random(i), nil, src); !bytes.Equal(dst, want) {
			t.Fatalf("seed %d: %q and %q", i, dst, want)
		}
	}
}

func TestWeights(t *testing.T) {
	m := &Bytes{Weights: map[Operator]int{}}
	for _, op := range Operators() {
		m.Weights[op] = 0
	}
	m.Weights[OpDelete] = 255
	r := random(1)
	for range 500 {
		if got := m.Mutate(r, nil, []byte("some text to delete from")); len(got) >= 24 {
			t.Fatalf("not only deleted: %q", got)
		}
	}
	m = &Bytes{Weights: map[Operator]int{}}
	for _, op := range Operators() {
		m.Weights[op] = 0
	}
	if got := m.Mutate(r, nil, []byte("x")); string(got) == "x" {
		t.Error("with all operators off nothing was changed")
	}
}

func TestGenerate(t *testing.T) {
	m := &Bytes{MaxLen: 600, Dictionary: someTokens()}
	r := random(1)
	long, tokens := 0, 0
	for range 1000 {
		in := m.Generate(r)
		if len(in) > 600 {
			t.Fatalf("%d bytes", len(in))
		}
		if len(in) > 100 {
			long++
		}
		tokens += bytes.Count(in, []byte("TOKEN"))
	}
	if long < 100 || tokens < 100 {
		t.Errorf("%d long inputs, %d tokens", long, tokens)
	}
}

func TestCross(t *testing.T) {
	m := &Bytes{MaxLen: 64}
	r := random(5)
	a, b := []byte("head-AAAAAAAA-tail"), []byte("head-BBBBBBBBBBBB-tail")
	whole := regexp.MustCompile(fmt.Sprintf("^(%s[-\n]?%s|%[2]s[-\n]?%[1]s)$", a, b))
	kinds := map[string]int{}
	for range 1000 {
		got := m.Cross(r, nil, a, b)
		if bytes.Equal(got, a) || len(got) > 64 {
			t.Fatalf("%q", got)
		}
		switch mixed := bytes.Contains(got, []byte("A")) && bytes.Contains(got, []byte("B")); {
		case whole.Match(got):
			kinds["joined"]++
		case mixed && len(got) == len(b) && bytes.HasSuffix(got, []byte("BB-tail")):
			kinds["cut"]++
		case len(got) == len(a):
			kinds["over"]++
		case len(got) > len(a):
			kinds["into"]++
		}
	}
	if kinds["cut"] < 200 || kinds["over"] < 100 || kinds["into"] < 100 || kinds["joined"] < 100 {
		t.Errorf("%v", kinds)
	}
	for _, pair := range [][2]string{{"", ""}, {"", "x"}, {"x", ""}, {"same", "same"}, {"ab", "ac"}} {
		for range 100 {
			if got := m.Cross(r, nil, []byte(pair[0]), []byte(pair[1])); string(got) == pair[0] {
				t.Fatalf("cross of %q is the first", pair)
			}
		}
	}
	if got := m.Cross(r, nil, bytes.Repeat([]byte("a"), 100), bytes.Repeat([]byte("b"), 100)); len(got) > 64 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestStepsArePureDistinctAndEnd(t *testing.T) {
	m := &Bytes{Dictionary: someTokens(), MaxLen: 12}
	for _, src := range []string{"", "a", "ab", "abc", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "TOKEN 12345 and more"} {
		cut := []byte(src)[:min(len(src), m.MaxLen)]
		seen := map[string]bool{}
		var dst []byte
		k := uint64(0)
		for ; ; k++ {
			var more bool
			if dst, more = m.Step(k, dst, []byte(src)); !more {
				break
			}
			again, _ := m.Step(k, nil, []byte(src))
			if !bytes.Equal(again, dst) {
				t.Fatalf("step %d of %q: %q, then %q", k, src, dst, again)
			}
			if bytes.Equal(dst, cut) && !(len(cut) == m.MaxLen) {
				t.Fatalf("step %d of %q changes nothing", k, src)
			}
			if len(dst) > m.MaxLen {
				t.Fatalf("step %d of %q: %q", k, src, dst)
			}
			seen[string(dst)] = true
		}
		if _, more := m.Step(k+1000, nil, []byte(src)); more {
			t.Errorf("%q: steps go on after the last", src)
		}
		if n := uint64(len(cut)); k < n*100 || len(seen) < int(k)/3 {
			t.Errorf("%q: %d steps, %d of them different", src, k, len(seen))
		}
		if len(cut) > 1 && (!seen["\xff"+string(cut[1:])] || !seen[string(cut[:1])+"\x7f"+string(cut[2:])]) {
			t.Errorf("%q: an interesting byte was not tried", src)
		}
		for v := range 256 {
			if len(cut) > 0 && v != int(cut[0]) && !seen[string([]byte{byte(v)})+string(cut[1:])] {
				t.Errorf("%q: the first byte was not tried as %#x", src, v)
			}
		}
	}
	magic := &Bytes{Dictionary: someTokens()}
	found := false
	for k := uint64(0); !found; k++ {
		in, more := magic.Step(k, nil, []byte("ab-----yz"))
		if !more {
			t.Fatal("no step puts the token in its place")
		}
		found = string(in) == "abTOKENyz"
	}
}

func TestSimplifyGoesDownAndEnds(t *testing.T) {
	m := &Bytes{}
	for _, src := range []string{"a", "0", "ab", "hello world", strings.Repeat("xyz", 50)} {
		seen := map[string]bool{}
		k := uint64(0)
		for ; ; k++ {
			got, more := m.Simplify(k, nil, []byte(src))
			if !more {
				break
			}
			if k > 100000 {
				t.Fatalf("%q: no end", src)
			}
			again, _ := m.Simplify(k, []byte("old memory"), []byte(src))
			if !bytes.Equal(got, again) {
				t.Fatalf("candidate %d of %q is not pure", k, src)
			}
			if c, was := m.Complexity(got), m.Complexity([]byte(src)); c > was || c == was && string(got) != src {
				t.Fatalf("candidate %d of %q: %q is not simpler", k, src, got)
			}
			seen[string(got)] = true
		}
		if n := m.Candidates(len(src)); n != k {
			t.Errorf("%q: %d candidates are announced, and there are %d", src, n, k)
		}
		for i := range src {
			if !seen[src[:i]+src[i+1:]] || !seen[src[:i]+"0"+src[i+1:]] {
				t.Errorf("%q: byte %d is neither dropped nor 0", src, i)
			}
		}
		if !seen[""] || !seen[src[:len(src)/2]] {
			t.Errorf("%q: no big removal", src)
		}
	}
	if _, more := m.Simplify(0, nil, nil); more {
		t.Error("nothing is simpler than the empty input")
	}
}

// TestMinimize minimises an input by Simplify, as the engine does.
func TestMinimize(t *testing.T) {
	m := &Bytes{}
	in := []byte("some noise before MAGIC and 12345 after it, and a lot more of it at the end")
	got, err := teasel.Minimize(t.Context(), m, in, func(_ context.Context, c []byte) ([]byte, bool, error) {
		return c, bytes.Contains(c, []byte("MAGIC")) && len(c) >= 8, nil
	})
	if err != nil || len(got) != 8 || !bytes.Contains(got, []byte("MAGIC")) || bytes.Count(got, []byte("0")) != 3 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRepair(t *testing.T) {
	m := &Bytes{}
	for _, test := range []struct {
		name, src, want string
		ops             []teasel.Operand
	}{
		{"little endian", "ab\x78\x56\x34\x12cd", "ab\x01\x00\x00\x00cd", []teasel.Operand{{Size: 4, Const: true, A: 1, B: 0x12345678}}},
		{"big endian", "ab\x12\x34\x56\x78cd", "ab\x00\x00\x00\x01cd", []teasel.Operand{{Size: 4, Const: true, A: 1, B: 0x12345678}}},
		{"the other way round", "ab\x12\x34cd", "ab\x98\x76cd", []teasel.Operand{{Size: 2, A: 0x1234, B: 0x9876}}},
		{"a constant is not what was found", "ab\x12\x34cd", "", []teasel.Operand{{Size: 2, Const: true, A: 0x1234, B: 0x9876}}},
		{"narrower than compared", "ab\x12\x34cd", "ab\x00\x05cd", []teasel.Operand{{Size: 8, Const: true, A: 5, B: 0x1234}}},
		{"narrower and negative", "ab\xff\xfecd", "ab\x00\x05cd", []teasel.Operand{{Size: 4, Const: true, A: 5, B: 0xfffffffe}}},
		{"too wide to be narrower", "ab\x12\x34cd", "", []teasel.Operand{{Size: 8, Const: true, A: 1 << 40, B: 0x1234}}},
		{"one byte", "abc", "axc", []teasel.Operand{{Size: 1, Const: true, A: 'x', B: 'b'}}},
		{"digits", "len: 4711;", "len: 99;", []teasel.Operand{{Size: 4, Const: true, A: 99, B: 4711}}},
		{"longer digits", "len: 99;", "len: 100000;", []teasel.Operand{{Size: 4, Const: true, A: 100000, B: 99}}},
		{"two, one repaired already", "\x11\x22-\x11\x22", "\x33\x44-\x55\x66", []teasel.Operand{
			{Size: 2, Const: true, A: 0x3344, B: 0x1122}, {Size: 2, Const: true, A: 0x5566, B: 0x1122}}},
		{"repaired is not touched again", "\x11\x22", "\x33\x44", []teasel.Operand{
			{Size: 2, Const: true, A: 0x3344, B: 0x1122}, {Size: 2, Const: true, A: 0x5566, B: 0x3344}}},
		{"digits move what was repaired", "44 11\x11\x22", "5 900\x33\x44", []teasel.Operand{
			{Size: 2, Const: true, A: 0x3344, B: 0x1122}, {Size: 4, Const: true, A: 900, B: 11}, {Size: 4, Const: true, A: 5, B: 44}}},
		{"equal operands", "\x11\x22", "", []teasel.Operand{{Size: 2, A: 0x1122, B: 0x1122}}},
		{"not there", "abcd", "", []teasel.Operand{{Size: 4, Const: true, A: 1, B: 77777777}}},
		{"odd size", "abcd", "", []teasel.Operand{{Size: 3, Const: true, A: 1, B: 'a'}}},
		{"none", "abcd", "", nil},
	} {
		src := []byte(test.src)
		got, ok := m.Repair(nil, src, test.ops)
		if want := test.want; ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, ok, want)
		}
		if string(src) != test.src {
			t.Errorf("%s: wrote to the source", test.name)
		}
	}
	small := &Bytes{MaxLen: 3}
	if got, ok := small.Repair(nil, []byte("a99"), []teasel.Operand{{Size: 4, Const: true, A: 100000, B: 99}}); ok {
		t.Errorf("grew to %q", got)
	}
}

// TestRepairChecksums appends a checksum to the data: after any mutation of the data, one repair corrects the checksum.
func TestRepairChecksums(t *testing.T) {
	m := &Bytes{}
	sum := func(data []byte) (s uint32) {
		for _, c := range data {
			s = s*16777619 ^ uint32(c)
		}
		return s ^ 0x9e3779b9
	}
	in := []byte("some data to protect????")
	store(in[20:], false, uint64(sum(in[:20])))
	r := random(1)
	for range 1000 {
		c := bytes.Clone(in)
		head := m.Mutate(r, nil, c[:20])
		c = append(head, c[20:]...)
		body := c[:len(c)-4]
		stored := load(c[len(c)-4:], false)
		if uint64(sum(body)) == stored {
			continue
		}
		got, ok := m.Repair(nil, c, []teasel.Operand{{Size: 4, A: uint64(sum(body)), B: stored}})
		if !ok || load(got[len(got)-4:], false) != uint64(sum(got[:len(got)-4])) {
			t.Fatalf("%q was not repaired: %q", c, got)
		}
	}
}

func BenchmarkHavoc(b *testing.B) {
	for _, bench := range []struct {
		name string
		size int
		ops  int
	}{{"100B/4ops", 100, 4}, {"100B/16ops", 100, 16}, {"4KiB/4ops", 4096, 4}, {"4KiB/16ops", 4096, 16}} {
		b.Run(bench.name, func(b *testing.B) {
			m := &Bytes{MaxOps: bench.ops, MaxLen: 2 * bench.size}
			src := make([]byte, bench.size)
			r := random(1)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			dst := make([]byte, 0, 2*bench.size)
			b.ReportAllocs()
			for b.Loop() {
				dst = m.Mutate(r, dst, src)
			}
		})
	}
}

func TestInterestingNumbersFitTheirWidth(t *testing.T) {
	seen := map[int64]bool{}
	for size, n := range interestingBelow {
		for _, v := range interesting[:n] {
			if width := 8 << size; v>>(width-1) != 0 && v>>(width-1) != -1 && width < 64 && v>>width != 0 {
				t.Errorf("%d does not fit %d bits", v, width)
			}
		}
	}
	for _, v := range interesting {
		if seen[v] {
			t.Errorf("%d occurs twice", v)
		}
		seen[v] = true
	}
	for _, v := range []int64{0, 1, 65535, 65536, 0x7fffffff, -0x80000000, -1} {
		if !slices.Contains(interesting[:interestingBelow[2]], v) {
			t.Errorf("%d is not tried as 32 bits", v)
		}
	}
}

func TestLineAround(t *testing.T) {
	long := strings.Repeat("a", maxTextLine+1)
	for _, tt := range []struct {
		text string
		at   int
		want string // "": none
	}{
		{"", 0, ""},
		{"one", 1, ""},
		{"one\ntwo\nthree", 0, "one\n"},
		{"one\ntwo\nthree", 3, "one\n"},
		{"one\ntwo\nthree", 4, "two\n"},
		{"one\ntwo\nthree", 12, "three"},
		{"\n\n", 1, "\n"},
		{"one\ntw\x00o\n", 5, ""},
		{"one\n" + long + "\ntwo", 4, ""},
		{"one\n" + long + "\ntwo", 3 + len(long), ""},
	} {
		from, to, ok := lineAround([]byte(tt.text), tt.at)
		if ok != (tt.want != "") || ok && tt.text[from:to] != tt.want {
			t.Errorf("%.20q at %d: %d to %d, %v; want %q", tt.text, tt.at, from, to, ok, tt.want)
		}
	}
}

// TestMutantLengths: few mutants, but some, are much longer than their input: programs that take quadratic time would spend most of it on long inputs.
func TestMutantLengths(t *testing.T) {
	m, r := &Bytes{}, rand.New(rand.NewPCG(1, 2))
	const mutants = 20_000
	long := 0
	var buf []byte
	for range mutants {
		if buf = m.Mutate(r, buf, []byte("[short]")); len(buf) > 1<<10 {
			long++
		}
	}
	if long == 0 || long > mutants/200 {
		t.Errorf("%d of %d mutants are longer than 1 KiB", long, mutants)
	}
}
