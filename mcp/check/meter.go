package check

import (
	"time"

	"github.com/teaselfuzz/teasel/mcp/script"
)

// Needs is what the scripts of a check need of whoever runs them, beside their steps.
type Needs struct {
	Files     bool // the number of files and sockets that the server has open is looked at while a step is repeated
	Processes bool // with Files: and that of its processes, those included that have ended and that nobody has waited for
	Memory    bool // the server's memory is measured while a step is repeated
	Time      bool // the processor time of each step is measured
	Shape     bool // of Time: by the number of the step and not by its size
	Huge      bool // its long texts are as long as they can be
	Asked     bool // it goes on only while the server asks something
}

// NeedsOf returns what the scripts of a check need.
func NeedsOf(label string) Needs {
	return Needs{Files: label == GrowthFiles || label == KeptOpen, Processes: label == KeptOpen, Memory: label == GrowthMemory, Time: MeasuresTime(label), Shape: label == ShapeTime, Huge: label == Large, Asked: label == Questions}
}

// Demanding reports whether the server may need a long time for a script.
func (n Needs) Demanding() bool { return n.Memory || n.Time || n.Huge }

// Metered is a server whose memory and processor time can be measured.
type Metered interface {
	Files() int                         // that are open; 0: nobody knows
	Processes() int                     // with those that have ended and that nobody has waited for; 0: nobody knows
	Memory() uint64                     // in bytes
	Clock() (read func() time.Duration) // of the processor
}

// A Meter measures how a script's repetitions add to a server's memory, or its sizes to the server's time.
type Meter struct {
	Needs
	Over bool // the rest of the script would show nothing

	total int                  // lines of the script, repetitions included
	parts int                  // into which they are divided
	next  int                  // of them after which it is looked at next
	said  int                  // index in Sent up to which time was looked at
	clock func() time.Duration // of the server and those it has started before the script
	began time.Duration        // what it showed when memory was looked at first
	cpu   time.Duration        // what it showed last
}

const quarters = 4

// Calls that took so much of the processor and added less than this to the memory are enough, if they took no longer in the end: a leak that
// matters would have added some sixteen times as much.
const (
	enoughTime   = 300 * time.Millisecond
	enoughMemory = script.LeastLeak / quarters / 16
)

// Least returns how many of so many repetitions are sent whatever comes of them.
func (m *Meter) Least(times int) int {
	if m.Memory {
		times = min(times, repeatedTimes)
	}
	return times
}

// Burst returns how often a step that is repeated may be sent before the server rests and is looked at, of at most so many.
func (m *Meter) Burst(times, most int) int {
	if m.Files {
		most = min(most, max(times/quarters, 1))
	}
	return most
}

// Measure is called when the server rests: before the script says something, and at the end. repeated is how often the current step was
// sent, of step, the number of those before it. What it has to say about growth is in the transcript.
func (m *Meter) Measure(s Metered, t *script.Transcript, step, repeated int) {
	switch {
	case m.Files:
		m.measureFiles(s, t, step, repeated)
		return
	case m.Asked:
		m.Over = len(t.Sent) > 0 && !wasAsked(t)
		return
	case !m.Memory && !m.Time:
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

func (m *Meter) measureFiles(s Metered, t *script.Transcript, step, repeated int) {
	if t.Growth == nil {
		t.Growth = &script.Growth{What: "files"}
	}
	said, ok := m.part(t, step, repeated)
	if !ok {
		return
	}
	rise(t.Growth, float64(said), float64(s.Files()))
	if g := t.Growth; m.Processes && len(g.Processes) < len(g.Values) {
		g.What, g.Processes = "open", append(g.Processes, float64(s.Processes()))
	}
}

func (m *Meter) measureMemory(s Metered, t *script.Transcript, step, repeated int) {
	t.Growth.What = "memory"
	said, ok := m.part(t, step, repeated)
	g := t.Growth
	if !ok || m.Over || !rise(g, float64(said), float64(s.Memory())) {
		return
	}
	g.Used = append(g.Used, float64((m.clock() - m.began).Microseconds()))
	m.Over = m.enough(g)
}

// enough reports whether more calls would show nothing.
func (m *Meter) enough(g *script.Growth) bool {
	n := len(g.Values)
	if n == 3 && g.Values[2]-g.Values[0] < enoughMemory && g.Used[2] >= float64(enoughTime.Microseconds()) && g.Used[2] < 3*g.Used[1] {
		return true
	}
	if m.total <= repeatedTimes || g.Sizes[n-1] < repeatedTimes {
		return false
	}
	_, may := mayLeak(g)
	_, sure := leaks(g)
	return !may || sure || g.Values[n-1]-g.Values[0] > mostMemory
}

// part reports whether another part of the lines was sent, and how many were.
func (m *Meter) part(t *script.Transcript, step, repeated int) (said int, ok bool) {
	if m.total == 0 {
		for i := range t.Script.Steps {
			m.total += max(t.Script.Steps[i].Times, 1)
		}
		if m.parts = quarters; m.Memory {
			m.parts = max(m.parts, m.total/repeatedPart)
		}
	}
	said = repeated
	for i := range t.Script.Steps[:step] {
		said += max(t.Script.Steps[i].Times, 1)
	}
	if said*m.parts < m.total*m.next || m.next > m.parts || m.next > 0 && said == 0 {
		return said, false
	}
	for m.next <= m.parts && said*m.parts >= m.total*m.next {
		m.next++
	}
	return said, true
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

// rise adds a value, and keeps the sizes rising: false says that it was not added.
func rise(g *script.Growth, size, value float64) bool {
	if n := len(g.Sizes); n > 0 && g.Sizes[n-1] >= size {
		return false
	}
	g.Sizes, g.Values = append(g.Sizes, size), append(g.Values, value)
	return true
}
