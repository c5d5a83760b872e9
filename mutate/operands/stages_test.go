package operands_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// program is a function under test. It returns how deep the input has led, and records its comparisons with compare and text.
type program func(in []byte, p *probe) (depth int)

// probe has the functions that a program calls to compare values.
type probe struct{ rec operands.Recording }

func (p *probe) equal(site uint32, size uint8, constant bool, a, b uint64) bool {
	p.rec.Numbers = append(p.rec.Numbers, teasel.Operand{Site: site, Size: size, Const: constant, A: a, B: b})
	return a == b
}

func (p *probe) text(site uint32, a, b string) bool {
	if a != b {
		p.rec.Texts = append(p.rec.Texts, operands.Text{Site: site, A: a, B: b})
	}
	return a == b
}

// goal is the depth that counts as a crash.
const goal = 9

// target runs a program in this process. Without records it does not record comparisons.
type target struct {
	run     program
	records bool
	history operands.History
}

func (t target) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return &t, nil }
func (t *target) Close() error                                                      { return nil }

func (t *target) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	var p probe
	depth := t.run(in, &p)
	t.history.Ran(1)
	if t.records && o.Ask.Operands {
		t.history.Attach(o, &p.rec)
	}
	o.Exit, o.Work = teasel.ExitOK, 1000
	for i := range depth {
		o.Features = append(o.Features, teasel.Feature(i+1))
	}
	if depth == goal {
		o.Exit, o.Detail = teasel.ExitCrash, "goal"
	}
	return nil
}

// codec stores bytes unchanged.
type codec struct{}

func (codec) Encode(in []byte) ([]byte, error)   { return in, nil }
func (codec) Decode(data []byte) ([]byte, error) { return slices.Clone(data), nil }

func sum(in []byte) uint64 { return uint64(crc32.ChecksumIEEE(in)) }

var programs = []struct {
	name  string
	run   program
	seed  string
	stage teasel.Stage[[]byte]
}{
	{"a constant of eight bytes", func(in []byte, p *probe) int {
		if len(in) >= 8 && p.equal(1, 8, true, 0x7465617365_6c2131, binary.BigEndian.Uint64(in)) {
			return goal
		}
		return 1
	}, "0123456789", operands.InputToState{}},
	{"a word that is longer than what stands there", func(in []byte, p *probe) int {
		if word, _, _ := bytes.Cut(in, []byte(" ")); p.text(1, string(word), "operator") {
			return goal
		}
		return 1
	}, "user rest", operands.InputToState{}},
	{"a number in digits", func(in []byte, p *probe) int {
		n := uint64(0)
		for _, c := range in {
			n = n*10 + uint64(c-'0')
		}
		if p.equal(1, 4, true, 271828, n&0xffffffff) {
			return goal
		}
		return 1
	}, "31415", operands.InputToState{}},
	{"a scaled number", func(in []byte, p *probe) int {
		if len(in) >= 3 && p.equal(1, 4, true, 60_007, 3*uint64(binary.BigEndian.Uint16(in[1:]))+7) {
			return goal
		}
		return 1
	}, "abcdef", operands.Gradient{}},
	{"a checksum and a number behind it", func(in []byte, p *probe) int {
		if len(in) < 12 || !p.equal(1, 4, false, sum(in[4:]), uint64(binary.LittleEndian.Uint32(in))) {
			return 1
		}
		if p.equal(2, 4, true, 0xfeedface, uint64(binary.LittleEndian.Uint32(in[8:]))) {
			return goal
		}
		return 2
	}, string(binary.LittleEndian.AppendUint32(nil, uint32(sum([]byte("abcdefgh"))))) + "abcdefgh", operands.Repair{}},
}

// campaign searches for the goal with the stages of this package only.
func campaign(run program, seed string, records bool, stages ...teasel.Stage[[]byte]) (teasel.Summary, error) {
	c := teasel.Campaign[[]byte]{Target: target{run: run, records: records}, Mutator: &mutate.Bytes{}, Codec: codec{},
		Stages: stages, Seeds: [][]byte{[]byte(seed)}, Seed: 1, StopAfter: 1, Runs: 20_000}
	return c.Run(context.Background())
}

// TestStages: each stage solves its kind of puzzle in few executions, and finds nothing in a program that does not record comparisons.
func TestStages(t *testing.T) {
	for _, test := range programs {
		t.Run(test.name, func(t *testing.T) {
			stages := []teasel.Stage[[]byte]{test.stage}
			if _, first := test.stage.(operands.InputToState); !first { // the other stages come after it
				stages = []teasel.Stage[[]byte]{operands.InputToState{}, test.stage}
			}
			s, err := campaign(test.run, test.seed, true, stages...)
			if err != nil || len(s.Findings) != 1 {
				t.Errorf("%d executions, findings %+v, %v; want one", s.Executions, s.Findings, err)
			}
			if s, err := campaign(test.run, test.seed, false, append(stages, teasel.Havoc[[]byte]{})...); err != nil || len(s.Findings) != 0 {
				t.Errorf("without records: findings %+v, %v", s.Findings, err)
			}
		})
	}
}

// TestTokens: the stage inserts a word with which only another testcase was compared.
func TestTokens(t *testing.T) {
	run := func(in []byte, p *probe) int {
		switch {
		case bytes.HasPrefix(in, []byte("A")):
			p.text(1, string(in[1:]), "configuration")
			return 2
		case bytes.Contains(in, []byte("configuration")) && bytes.HasPrefix(in, []byte("B")):
			return goal // reached without a comparison
		}
		return 1
	}
	for _, records := range []bool{true, false} {
		s, err := campaign(run, "Axy", records, operands.InputToState{}, operands.Tokens{}, teasel.Havoc[[]byte]{})
		if want := map[bool]int{true: 1, false: 0}[records]; err != nil || len(s.Findings) != want {
			t.Errorf("records %v: %d findings, %v, want %d", records, len(s.Findings), err, want)
		}
	}
}

// prefixed is a mutator of inputs whose first byte is the length of the bytes between it and the last byte.
type prefixed struct{ mutate.Bytes }

func (m *prefixed) Clone() teasel.Mutator[[]byte] { return &prefixed{m.Bytes} }

func (m *prefixed) Splice(dst, src []byte, at, n int, text string) []byte {
	dst = append(append(append(dst[:0], src[:at]...), text...), src[at+n:]...)
	dst[0] += byte(len(text) - n)
	return dst
}

// TestSplicer: a mutator that is a Splicer keeps lengths correct when a stage makes a text longer.
func TestSplicer(t *testing.T) {
	run := func(in []byte, p *probe) int {
		if len(in) < 2 || int(in[0]) != len(in)-2 {
			return 0
		}
		if p.text(1, string(in[1:1+in[0]]), "administrator") && in[len(in)-1] == '.' {
			return goal
		}
		return 1
	}
	for _, m := range []teasel.Mutator[[]byte]{&prefixed{}, &mutate.Bytes{}} {
		c := teasel.Campaign[[]byte]{Target: target{run: run, records: true}, Mutator: m, Codec: codec{}, Stages: operands.Stages(),
			Seeds: [][]byte{[]byte("\x04user.")}, Seed: 1, StopAfter: 1, Runs: 2000}
		s, err := c.Run(context.Background())
		_, splices := m.(operands.Splicer)
		if err != nil || (len(s.Findings) == 1) != splices {
			t.Errorf("splices %v: findings %+v, %v", splices, s.Findings, err)
		}
	}
}
