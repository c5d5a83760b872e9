package run

import (
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// meter measures how a script's repetitions add to the server's memory, or its sizes to the server's time.
type meter struct {
	total int           // lines of the script, repetitions included
	next  int           // quarter of them after which memory is looked at next
	said  int           // index in Sent up to which time was looked at
	clock proc.Clock    // of the server and those it has started before the script
	cpu   time.Duration // what it showed then
	over  bool          // the rest of the repetitions would show nothing
}

const quarters = 4

// A quarter of the repetitions that took so long and added less than this to the memory is enough: a leak that matters
// would have added some sixteen times as much.
const (
	quarterTime = 300 * time.Millisecond
	quarterLeak = script.LeastLeak / quarters / 16
)

// grownEnough reports whether a quarter of the repetitions has said all that there is to say.
func grownEnough(g *script.Growth, took time.Duration) bool {
	return len(g.Values) == 2 && took >= quarterTime && g.Values[1]-g.Values[0] < quarterLeak
}

// measure is called when the server is idle: before the script says something, and at the end. What it has to say
// about growth is in the transcript.
func (e *executor) measure(r *round, l *lane) {
	switch l.in.Check {
	case check.GrowthMemory:
		e.measureMemory(r, l)
	case check.GrowthTime, check.ShapeTime:
		e.measureTime(r, l)
	}
}

func (e *executor) measureMemory(r *round, l *lane) {
	m := &l.meter
	if e.read >= maxRepeatBytes { // the rest was left out
		return
	}
	if m.total == 0 {
		for i := range l.in.Steps {
			m.total += max(l.in.Steps[i].Times, 1)
		}
		l.t.Growth = &script.Growth{What: "memory"}
	}
	said := l.times
	for i := range l.in.Steps[:l.step] {
		said += max(l.in.Steps[i].Times, 1)
	}
	if said*quarters < m.total*m.next || m.next > quarters || m.next > 0 && said == 0 {
		return
	}
	for m.next <= quarters && said*quarters >= m.total*m.next {
		m.next++
	}
	addGrowth(l.t.Growth, float64(said), float64(r.server.Proc.RSS()))
	m.over = grownEnough(l.t.Growth, time.Since(l.began))
}

func (e *executor) measureTime(r *round, l *lane) {
	m := &l.meter
	if l.t.Growth == nil {
		m.clock = r.server.Proc.Clock()
		l.t.Growth = &script.Growth{What: "time"}
		if l.in.Check == check.ShapeTime {
			l.t.Growth.What = "shape"
		}
	}
	now := m.clock.Read()
	if n := len(l.t.Sent); n > m.said {
		if s := &l.t.Sent[n-1]; n == m.said+1 && s.Answer >= 0 {
			size := len(s.Raw)
			if l.in.Check == check.ShapeTime {
				size = n
			}
			addGrowth(l.t.Growth, float64(size), float64((now - m.cpu).Microseconds()))
		}
		m.said = n
	}
	m.cpu = now
}

// addGrowth adds a measure that keeps the sizes rising.
func addGrowth(g *script.Growth, size, value float64) {
	if n := len(g.Sizes); n > 0 && g.Sizes[n-1] >= size {
		return
	}
	g.Sizes, g.Values = append(g.Sizes, size), append(g.Values, value)
}
