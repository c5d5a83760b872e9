package judge

import (
	"fmt"
	"math"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// What growth has to come to before it is believed.
const (
	growthPoints = 4
	leakFactor   = 2.2   // collectors let a heap grow to twice of what is in use before they look
	leakShare    = 0.6   // of the steps that grow, each by a fair part of the mean
	steepLeast   = 100e3 // microseconds, for the largest input
	steepPower   = 1.6   // of the size, by which the time grows
	shapeLeast   = 30e3  // microseconds
	shapeGrave   = 500e3 // microseconds, of which only a validator that goes over all members again and again needs as many
	shapeFactor  = 16    // times what a text of the same length takes
)

// growth judges what the executor has measured on purpose.
func (j *judge) growth() {
	g := j.t.Growth
	if g == nil || len(g.Sizes) != len(g.Values) || len(g.Sizes) < growthPoints || len(j.t.Sent) == 0 {
		return
	}
	s := &j.t.Sent[len(j.t.Sent)-1]
	switch g.What {
	case "shape":
		text, shape := min(g.Values[0], g.Values[2]), min(g.Values[1], g.Values[3])
		if shape >= shapeLeast && shape >= shapeFactor*text {
			severity := teasel.Low
			if shape < shapeGrave { // readers of JSON and validators take a microsecond or two for a member, and nobody waits for that
				severity = teasel.Info
			}
			j.reportAs(RuleShape, severity, j.subject(s), "", fmt.Sprintf(
				"%d bytes kept the server busy for %.0f ms, and for %.0f ms when they were one text: %s.",
				len(s.Raw), shape/1e3, text/1e3, jsonrpc.Cut(s.Raw, 160))).Alone = true
		}
	case "memory":
		if each, ok := Leaks(g); ok {
			last := len(g.Values) - 1
			j.report(RuleMemoryGrowth, j.subject(s), "", fmt.Sprintf("Memory grew from %.0f to %.0f MB while %s was repeated %.0f times, %.0f KB each time.",
				g.Values[0]/(1<<20), g.Values[last]/(1<<20), jsonrpc.Cut(s.Raw, 160), g.Sizes[last]-g.Sizes[0], each/1024)).Alone = true
		}
	case "time":
		if power, ok := Steep(g); ok {
			last := len(g.Values) - 1
			j.report(RuleSlowGrowth, j.subject(s), "", fmt.Sprintf(
				"The time for a call grew with the %.1fth power of its size: %.0f ms for %.0f bytes and %.0f ms for %.0f bytes, as in %s.",
				power, g.Values[last-1]/1e3, g.Sizes[last-1], g.Values[last]/1e3, g.Sizes[last], jsonrpc.Cut(s.Raw, 160))).Alone = true
		}
	}
}

// Leaks reports whether memory grew steadily to the end, and by how many bytes each time. Caches that fill up and
// collectors that take their time stop growing; a leak does not.
func Leaks(g *script.Growth) (each float64, ok bool) {
	n := len(g.Values)
	total := g.Values[n-1] - g.Values[0]
	if total < script.LeastLeak || g.Values[n-1] < leakFactor*g.Values[0] {
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

// Steep fits a power of the size to the largest sizes and returns it. Two things keep a busy machine from looking like
// a slow server: each doubling has to cost clearly more than double, and the points have to lie on the curve.
func Steep(g *script.Growth) (power float64, ok bool) {
	n := len(g.Values)
	if g.Values[n-1] < steepLeast {
		return 0, false
	}
	// What a call costs whatever its size would hide the power.
	floor := math.Inf(1)
	for _, v := range g.Values {
		floor = min(floor, v)
	}
	var xs, ys []float64
	for i := n - 1; i >= 0; i-- {
		v := g.Values[i] - 0.9*floor
		if v <= 0 || g.Sizes[i] <= 0 || len(xs) >= growthPoints && g.Values[i] < steepLeast/100 {
			break
		}
		xs, ys = append(xs, math.Log(g.Sizes[i])), append(ys, math.Log(v))
	}
	if len(xs) < growthPoints {
		return 0, false
	}
	for i := 1; i < growthPoints; i++ {
		// Sizes stand from the largest down.
		if (ys[i-1]-ys[i])/(xs[i-1]-xs[i]) < 1.2 {
			return 0, false
		}
	}
	slope, fit := line(xs[:growthPoints], ys[:growthPoints])
	return slope, slope > steepPower && fit > 0.95
}

// line returns the slope of the least squares line and how much of the variation it explains.
func line(xs, ys []float64) (slope, fit float64) {
	n := float64(len(xs))
	var sx, sy, sxx, sxy, syy float64
	for i := range xs {
		sx, sy = sx+xs[i], sy+ys[i]
		sxx, sxy, syy = sxx+xs[i]*xs[i], sxy+xs[i]*ys[i], syy+ys[i]*ys[i]
	}
	vx, vy, vxy := sxx-sx*sx/n, syy-sy*sy/n, sxy-sx*sy/n
	if vx == 0 || vy == 0 {
		return 0, 0
	}
	return vxy / vx, vxy * vxy / (vx * vy)
}
