package agent

import (
	"slices"
	"testing"
	"unsafe"
)

// laid returns a memory for so many counters.
func laid(counters int) *Memory {
	capacity := (counters + States + 63) &^ 63
	h := &Header{Counters: uint32(counters), Capacity: uint32(capacity)}
	m := &Memory{Header: h, Slot: make([]Slot, 1), Virgin: make([]byte, capacity), Bar: make([]uint16, capacity/8), Shortest: make([]uint16, capacity*Buckets),
		Feature: make([]uint32, 64), Operand: make([]Operand, 100), Watched: make([]byte, Sites/8), State: make([]uint64, 4)}
	for i := range m.Virgin {
		m.Virgin[i] = 0xff
	}
	return m
}

// reach judges an execution that has counted this.
func reach(m *Memory, length uint16, ask uint32, counters []byte) []uint32 {
	m.FeaturesUsed, m.Slot[0].FeatureCount = 0, 0
	j := novelty{m: m, length: length, ask: ask, slot: &m.Slot[0]}
	j.scan(counters)
	j.states()
	return slices.Clone(m.Feature[:m.FeaturesUsed])
}

func TestNovelty(t *testing.T) {
	const n = 203 // neither a multiple of 8 nor of 64
	m := laid(n)
	counted := func(at int, count byte) []byte {
		c := make([]byte, n)
		c[at] = count
		return c
	}
	for _, c := range []struct {
		name   string
		at     int
		count  byte
		length uint16
		ask    uint32
		want   []uint32
	}{
		{"new edge", 5, 1, 10, 0, []uint32{5*8 + 0}},
		{"known", 5, 1, 10, 0, nil},
		{"known from a longer input", 5, 1, 9, 0, []uint32{5*8 + 0}},
		{"no longer", 5, 1, 9, 0, nil},
		{"new bucket", 5, 5, 10, 0, []uint32{5*8 + 3}},
		{"most", 5, 255, 10, 0, []uint32{5*8 + 7}},
		{"last counter", n - 1, 2, 10, 0, []uint32{(n-1)*8 + 1}},
		{"quiet", 7, 1, 10, AskQuiet, nil},
		{"quiet, all", 7, 1, 10, AskQuiet | AskFeatures, []uint32{7 * 8}},
		{"still new", 7, 1, 10, 0, []uint32{7 * 8}},
		{"all", 5, 1, 10, AskFeatures, []uint32{5 * 8}},
	} {
		counters := counted(c.at, c.count)
		if got := reach(m, c.length, c.ask, counters); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if slices.Max(counters) != 0 {
			t.Errorf("%s: counters are left", c.name)
		}
	}
}

// The trace is the same for the same counts, and tells other counters and other ranges of counts apart, known ones as well.
func TestTrace(t *testing.T) {
	m := laid(100)
	trace := func(ask uint32, counts map[int]byte) uint64 {
		c := make([]byte, 100)
		for at, n := range counts {
			c[at] = n
		}
		j := novelty{m: m, length: 1, ask: ask, slot: &m.Slot[0]}
		j.scan(c)
		return j.trace
	}
	seen := map[uint64]int{}
	for i, counts := range []map[int]byte{{3: 1}, {3: 2}, {4: 1}, {3: 1, 4: 1}, {3: 1, 90: 1}, {3: 4, 90: 1}} {
		first, again := trace(AskTrace, counts), trace(AskTrace, counts)
		if first == 0 || first != again {
			t.Errorf("counts %v: traces %x and %x, want the same", counts, first, again)
		}
		if other, ok := seen[first]; ok {
			t.Errorf("counts %v have the trace of number %d", counts, other)
		}
		seen[first] = i
	}
	if same, want := trace(AskTrace, map[int]byte{3: 5}), trace(AskTrace, map[int]byte{3: 7}); same != want {
		t.Errorf("counts of one range have the traces %x and %x", same, want)
	}
	if got := trace(0, map[int]byte{3: 1}); got != 0 {
		t.Errorf("trace %x without being asked for", got)
	}
}

// What a scan passes over in blocks is nothing that was counted, wherever that is.
func TestScanMissesNothing(t *testing.T) {
	const n = 700
	for at := 0; at < n; at += 13 {
		c := make([]byte, n)
		c[at], c[n-1] = 1, 1
		want := []uint32{uint32(at * Buckets), uint32((n - 1) * Buckets)}
		if at == n-1 {
			want = want[:1]
		}
		if got := reach(laid(n), 1, 0, c); !slices.Equal(got, want) {
			t.Errorf("counters %d and %d: %d reached, want %d", at, n-1, got, want)
		}
		if i := slices.IndexFunc(c, func(b byte) bool { return b != 0 }); i >= 0 {
			t.Errorf("counter %d is not set back", i)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	c := make([]byte, 1<<16)
	m := laid(len(c))
	j := novelty{m: m, slot: &m.Slot[0]}
	for b.Loop() {
		c[100], c[5000], c[40_000] = 1, 1, 1
		j.scan(c)
	}
}

func TestStates(t *testing.T) {
	m := laid(8)
	m.StatesRoom = uint32(len(m.State))
	observe := func(states ...uint64) int {
		m.StatesCount = uint32(copy(m.State, states))
		return len(reach(m, 1, 0, make([]byte, 8)))
	}
	for _, want := range []int{2, 0} {
		if got := observe(1, 2, 1); got != want {
			t.Errorf("%d new states, want %d", got, want)
		}
	}
	m.StatesCount = 99 // what did not fit
	if got := len(reach(m, 1, 0, make([]byte, 8))); got > len(m.State) {
		t.Errorf("%d new states from %d", got, len(m.State))
	}
}

func TestRecording(t *testing.T) {
	m := laid(8)
	m.OperandRoom = 100
	recorder.attach(m)
	defer func() { recorder = recording{} }()
	Number(1, 2, 4, 0, 7) // nobody has asked
	recorder.begin()
	Number(1, 2, 4, 0, 7)
	Number(3, 3, 8, OperandConst, 8)
	Text("wanted", "found", 9)
	for range 2 * SiteRecords { // a loop must not use up the room
		Number(1, 2, 1, 0, 10)
	}
	recorder.end()
	ops := m.Operand[:m.OperandsUsed]
	if len(ops) != 3+SiteRecords {
		t.Fatalf("%d records, want %d", len(ops), 3+SiteRecords)
	}
	if o := ops[0]; o.Site != 7 || o.Size != 4 || o.Flags != 0 || *(*uint64)(unsafe.Pointer(&o.B)) != 2 {
		t.Errorf("%+v", o)
	}
	if ops[1].Flags != OperandEqual|OperandConst {
		t.Errorf("flags %d", ops[1].Flags)
	}
	if o := ops[2]; o.Flags != OperandText || string(o.A[:o.ALength]) != "wanted" || string(o.B[:o.BLength]) != "found" {
		t.Errorf("%+v", o)
	}
	m.OperandsUsed, m.Watching = 0, 1
	site := uint32(8)
	k := site * 0x9e3779b1 >> 16
	m.Watched[k/8] |= 1 << (k % 8)
	recorder.begin()
	Number(1, 2, 4, 0, 7)
	Number(1, 2, 4, 0, 8)
	if m.OperandsUsed != 1 || m.Operand[0].Site != 8 {
		t.Errorf("%d records of watched sites, the first of %d", m.OperandsUsed, m.Operand[0].Site)
	}
}
