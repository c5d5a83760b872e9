package check

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// How often one call is made, and with how much text. Most scripts end after the first of these numbers: only where memory has grown steadily by then, and the
// program takes so much without it that this may still be what a collector has not looked at, does it go on.
const (
	repeatedTimes = 512
	mostRepeated  = 4096
	repeatedText  = 1 << 10
	repeatedPart  = 64      // calls, after each of which it is measured
	mostMemory    = 1 << 30 // bytes by which it may grow meanwhile
)

func checkRepeatedCall(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		arguments := t.SwitchedOn()
		if len(t.Texts) > 0 {
			if long := session.WithText(arguments, t.Texts[0], script.LongText(repeatedText)); t.Schema == nil || t.Schema.Validate(long) == nil {
				arguments = long
			}
		}
		emit(t.Name, script.NewShared(GrowthMemory, script.Step{Line: t.CallWith(arguments), Times: mostRepeated}))
	}
}

// repeatedCall judges what a call costs that was made again and again.
func (j *Case) repeatedCall(g *script.Growth, s *script.Sent) {
	last := len(g.Values) - 1
	if each, ok := leaks(g); ok {
		j.report(RuleMemoryGrowth, j.subject(s), "", fmt.Sprintf("Memory grew from %.0f to %.0f MB while %s was repeated %.0f times, %.0f KB each time.",
			g.Values[0]/(1<<20), g.Values[last]/(1<<20), jsonrpc.Cut(s.Raw, 160), g.Sizes[last]-g.Sizes[0], each/1024)).Alone = true
	}
	if first, now, ok := slows(g); ok && !j.saysMore() {
		j.report(RuleSlower, j.subject(s), "", fmt.Sprintf("%s took %.1f ms of the processor at first, and %.1f ms after it was repeated %.0f times.",
			jsonrpc.Cut(s.Raw, 160), first/1e3, now/1e3, g.Sizes[last]-g.Sizes[0])).Alone = true
	}
}

// Collected reports whether a server has become larger or slower by the calls whose growth was measured.
func Collected(g *script.Growth) bool {
	if g == nil || g.What != "memory" || len(g.Values) == 0 {
		return false
	}
	first, now, _ := slows(g)
	return now-first >= slowerLeast || g.Values[len(g.Values)-1]-g.Values[0] >= script.LeastLeak
}

// saysMore reports whether the last answer is much longer than the first: what a server says about all that it has takes as long as there is of it.
func (j *Case) saysMore() bool {
	first, last := -1, -1
	for i := range j.Transcript.Sent {
		if r := j.answer(&j.Transcript.Sent[i]); r != nil {
			if last = len(r.Raw); first < 0 {
				first = last
			}
		}
	}
	return last > 2*first
}

const (
	leakFactor = 2.2 // collectors let a heap grow to twice of what is in use before they look
	leakShare  = 0.6 // of the parts that grow, each by a fair part of the mean
)

// leaks reports whether memory grew steadily to the end and to more than a collector explains, and by how many bytes each time.
func leaks(g *script.Growth) (each float64, ok bool) {
	each, ok = mayLeak(g)
	return each, ok && g.Values[len(g.Values)-1] >= leakFactor*g.Values[0]
}

// mayLeak reports whether memory grew steadily to the end. Caches that fill up and collectors that take their time stop growing; a leak
// does not.
func mayLeak(g *script.Growth) (each float64, ok bool) {
	n := len(g.Values)
	total := g.Values[n-1] - g.Values[0]
	if n < growthPoints || total < script.LeastLeak {
		return 0, false
	}
	span := g.Sizes[n-1] - g.Sizes[0]
	mean := total / span
	steady := 0
	for i := 1; i < n; i++ {
		if g.Values[i]-g.Values[i-1] > 0.25*mean*(g.Sizes[i]-g.Sizes[i-1]) {
			steady++
		}
	}
	// The second half has to grow like the first.
	half := n / 2
	late := (g.Values[n-1] - g.Values[half]) / (g.Sizes[n-1] - g.Sizes[half])
	return mean, float64(steady) >= leakShare*float64(n-1) && late > 0.5*mean
}

const (
	slowerParts  = 4   // into which the calls are divided
	slowerLeast  = 500 // microseconds that a call takes more in the last part than in the first: less of it hurts nobody
	slowerFactor = 4   // of what it took in the first part: where it grows with the number of calls it is seven, and four if it stops half way
	slowerSecond = 1.5 // of it in the second part, where a rise at one moment in the middle shows nothing
	slowerFit    = 0.8 // of the variation that a line explains
)

// slows reports whether calls took the more of the processor the more there were, to the end, and how many microseconds each in the first and in
// the last part. A machine that is busy with other things makes a call take up to twice as much, for a while.
func slows(g *script.Growth) (first, now float64, ok bool) {
	n := len(g.Used) - 1
	if n < 2*slowerParts {
		return 0, 0, false
	}
	calls, each := make([]float64, n), make([]float64, n)
	for i := range each {
		calls[i], each[i] = g.Sizes[i], (g.Used[i+1]-g.Used[i])/(g.Sizes[i+1]-g.Sizes[i])
	}
	mean := func(from, to int) float64 { return (g.Used[to] - g.Used[from]) / (g.Sizes[to] - g.Sizes[from]) }
	part := n / slowerParts
	first, now = mean(0, part), mean(n-part, n)
	_, fit := line(calls, each)
	return first, now, now-first >= slowerLeast && now >= slowerFactor*first && mean(part, 2*part) >= slowerSecond*first && fit >= slowerFit
}
