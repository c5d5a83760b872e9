package script

import (
	"bytes"
	"math/bits"
)

// The costs that complexity is the sum of, in sixteenths of a plain byte.
const (
	freshCost  = 16 * 256 // a process of its own
	stepCost   = 16 * 32  // a message, on top of its bytes
	flagCost   = 16 * 4   // not waiting, no newline, closing
	repeatCost = 16       // each further time
)

// byteCost makes plain text simpler than the same length of something else: 0, a and what JSON is built of are
// plainest, then other printable characters, then the rest.
var byteCost = func() (cost [256]uint8) {
	for b := range cost {
		switch {
		case b < ' ' || b >= 0x7f:
			cost[b] = 24
		case b == 'a' || b == '0' || b == ' ':
			cost[b] = 16
		default:
			cost[b] = 17
		}
	}
	for _, b := range []byte(`{}[]",:`) {
		cost[b] = 16
	}
	return cost
}()

// Complexity is the measure of "simpler" for scripts: first the size of what is sent, then how plain it is.
func Complexity(in *Script) float64 {
	var sum uint64
	if in.Start == Fresh {
		sum += freshCost
	}
	for i := range in.Steps {
		s := &in.Steps[i]
		sum += stepCost + uint64(flagCost*bits.OnesCount8(s.flags()))
		if s.Times > 1 {
			sum += uint64(s.Times-1) * repeatCost
		}
		sum += lineCost(s.Line) + lineCost([]byte(s.Head)) + lineCost([]byte(s.Asked))
	}
	return float64(sum) / 16
}

// What every message has costs next to nothing, so that a message which is in order is simpler than one that is not.
var usual = [...][]byte{[]byte(`{"jsonrpc":"2.0",`), []byte(`"id":"@id",`), []byte(`"method":"`)}

func lineCost(line []byte) (sum uint64) {
	for _, part := range usual {
		if rest, ok := bytes.CutPrefix(line, part); ok {
			line = rest
			sum += uint64(byteCost['a'])
		}
	}
	for _, b := range line {
		sum += uint64(byteCost[b])
	}
	return sum
}

func (s *Step) flags() (f uint8) {
	if s.NoWait {
		f |= 1
	}
	if s.NoNewline {
		f |= 2
	}
	if s.Close {
		f |= 4
	}
	return f
}
