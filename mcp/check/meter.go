package check

import (
	"time"

	"github.com/teaselfuzz/teasel/mcp/script"
)

// Needs is what the scripts of a check need of whoever runs them, beside their steps.
type Needs struct {
	Memory bool // the server's memory is measured while a step is repeated
	Time   bool // the processor time of each step is measured
	Shape  bool // of Time: by the number of the step and not by its size
	Huge   bool // its long texts are as long as they can be
}

// NeedsOf returns what the scripts of a check need.
func NeedsOf(label string) Needs {
	return Needs{Memory: label == GrowthMemory, Time: MeasuresTime(label), Shape: label == ShapeTime, Huge: label == Large}
}

// Demanding reports whether the server may need a long time for a script.
func (n Needs) Demanding() bool { return n.Memory || n.Time || n.Huge }

// Metered is a server whose memory and processor time can be measured.
type Metered interface {
	Memory() uint64                     // in bytes
	Clock() (read func() time.Duration) // of the processor
}

// A Meter measures how a script's repetitions add to a server's memory, or its sizes to the server's time.
type Meter struct {
	Needs
	Over bool // the rest of the repetitions would show nothing

	total int                  // lines of the script, repetitions included
	next  int                  // quarter of them after which memory is looked at next
	said  int                  // index in Sent up to which time was looked at
	clock func() time.Duration // of the server and those it has started before the script
	began time.Duration        // what it showed when memory was looked at first
	cpu   time.Duration        // what it showed last
}

const quarters = 4

// A quarter of the repetitions that took so much of the processor and added less than this to the memory is enough: a leak that
// matters would have added some sixteen times as much.
const (
	quarterTime = 300 * time.Millisecond
	quarterLeak = script.LeastLeak / quarters / 16
)

// Measure is called when the server rests: before the script says something, and at the end. repeated is how often the current step was
// sent, of step, the number of those before it. What it has to say about growth is in the transcript.
func (m *Meter) Measure(s Metered, t *script.Transcript, step, repeated int) {
	if !m.Memory && !m.Time {
		return
	}
	if t.Growth == nil {
		if m.clock = s.Clock(); m.clock == nil {
			return
		}
		t.Growth = &script.Growth{What: map[bool]string{true: "shape", false: "time"}[m.Shape]}
		m.began = m.clock()
	}
	if m.Memory {
		m.measureMemory(s, t, step, repeated)
	} else if m.clock != nil {
		m.measureTime(t)
	}
}

func (m *Meter) measureMemory(s Metered, t *script.Transcript, step, repeated int) {
	t.Growth.What = "memory"
	if m.total == 0 {
		for i := range t.Script.Steps {
			m.total += max(t.Script.Steps[i].Times, 1)
		}
	}
	said := repeated
	for i := range t.Script.Steps[:step] {
		said += max(t.Script.Steps[i].Times, 1)
	}
	if said*quarters < m.total*m.next || m.next > quarters || m.next > 0 && said == 0 {
		return
	}
	for m.next <= quarters && said*quarters >= m.total*m.next {
		m.next++
	}
	g := t.Growth
	rise(g, float64(said), float64(s.Memory()))
	m.Over = len(g.Values) == 2 && m.clock()-m.began >= quarterTime && g.Values[1]-g.Values[0] < quarterLeak
}

func (m *Meter) measureTime(t *script.Transcript) {
	now := m.clock()
	if n := len(t.Sent); n > m.said {
		if a := &t.Sent[n-1]; n == m.said+1 && a.Answer >= 0 {
			size := len(a.Raw)
			if m.Shape {
				size = n
			}
			rise(t.Growth, float64(size), float64((now - m.cpu).Microseconds()))
		}
		m.said = n
	}
	m.cpu = now
}

// rise keeps the sizes rising.
func rise(g *script.Growth, size, value float64) {
	if n := len(g.Sizes); n > 0 && g.Sizes[n-1] >= size {
		return
	}
	g.Sizes, g.Values = append(g.Sizes, size), append(g.Values, value)
}
