package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// The sizes between which a growing text doubles, in bytes.
const (
	growFrom = 1 << 10
	growTo   = 1 << 16
)

// short makes a script of one line at small sizes: what takes twice as long for each character more, or for each item,
// shows itself there, and hides behind a limit of the length elsewhere.
func short(line func(n int) []byte) script.Script {
	var steps []script.Step
	for n := 11; n <= 26; n += 3 { // the fourth largest takes a millisecond where the largest takes half a second, and less is easily disturbed
		steps = append(steps, script.Send(line(n)))
	}
	return script.NewShared(GrowthTime, steps...)
}

// grow makes a script of one line at sizes that double.
func grow(from, to int, line func(n int) []byte) script.Script {
	var steps []script.Step
	for n := from; n <= to; n *= 2 {
		steps = append(steps, script.Send(line(n)))
	}
	return script.NewShared(GrowthTime, steps...)
}

// maxGrown is of how many texts, and of how many arrays, the time is measured that growing ones take: the scripts for one text
// have half a megabyte. Where there are more, some are drawn.
const maxGrown = 48

// maxBases is under how many beginnings of URIs it is measured.
const maxBases = 12

func checkGrowthTime(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	order := r.Perm(len(Growths) - seededGrowths)
	grown := SomeTexts(b, r, maxGrown)
	checkShortGrowth(b, grown, emit) // they cost next to nothing
	EachPlace(grown, func(name string, line func(string) []byte) {
		names := suggestedGrowths(name)
		for i, g := range Growths {
			if i < seededGrowths || i == seededGrowths+order[0] || slices.Contains(names, g.name) {
				emit(name+" "+g.name, grow(growFrom, growTo, func(n int) []byte { return line(g.Text(n)) }))
			}
		}
	})
	emit("method", grow(growFrom, growTo, func(n int) []byte { return jsonrpc.RequestLine(script.LongText(n), nil) }))
	growTools(someTools(b, r, maxLargeTools), emit)
}

func checkShortGrowth(b *session.Catalog, places []TextPlace, emit Emitter) {
	every := func(name string, line func(text string) []byte) {
		for _, g := range shortGrowths {
			emit(name+" short "+g.name, short(func(n int) []byte { return line(g.text(n)) }))
		}
	}
	EachPlace(places, func(name string, line func(string) []byte) {
		names := suggestedGrowths(name)
		for _, g := range Growths[seededGrowths:] {
			if slices.Contains(names, g.name) {
				emit(name+" short "+g.name, short(func(n int) []byte { return line(g.Text(n)) }))
			}
		}
		every(name, line)
	})
	for _, base := range uriBases(b.Session) {
		every(base, func(text string) []byte {
			return jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", base+text))
		})
	}
	EachList(b, func(method string) {
		every(method+" cursor", func(text string) []byte { return jsonrpc.RequestLine(method, jsonrpc.Object("cursor", text)) })
	})
}

// uriBases are [ResourceBases], and the beginnings of templates up to the value of their first variable.
func uriBases(s *session.Session) []string {
	bases := ResourceBases(s)
	for i := range s.Templates {
		const end = "\x00"
		base, _, _ := strings.Cut(session.ExpandTemplate(s.Templates[i].URI, func(string) string { return end }), end)
		if base != "" && !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	return bases[:min(len(bases), maxBases)]
}

// growTools makes the scripts for arrays, and for arguments that no tool has.
func growTools(tools []*session.Operation, emit Emitter) {
	arrays := 0
	for i, t := range tools {
		if t.Slow {
			continue
		}
		largest := 1 << 14
		if i >= largeTools {
			largest = 1 << 12
		}
		for _, m := range t.Full.Members {
			if m.Value.Kind != mutate.Array || len(m.Value.Items) == 0 || arrays == maxGrown {
				continue
			}
			arrays++
			emit(t.Name+" items of "+m.Name, grow(1<<6, largest, func(n int) []byte { return t.CallWith(repeatItem(t, m.Name, n)) }))
			emit(t.Name+" short items of "+m.Name, short(func(n int) []byte { return t.CallWith(repeatItem(t, m.Name, n)) }))
		}
		if i >= largeTools {
			continue
		}
		extra := func(value string) []byte {
			v := t.Plain.Clone()
			v.Members = append(v.Members, jsonrpc.Member("teasel_extra", mutate.NewRaw(value)))
			return t.CallWith(v)
		}
		emit(t.Name+" depth", grow(64, 4096, func(n int) []byte { return extra(DeepText("[", "0", "]", n)) }))
		emit(t.Name+" keys", grow(1<<9, 1<<15, func(n int) []byte { return t.CallWith(mutate.NewRaw(WideObject(n))) }))
	}
}

// shapeWidth is how many members or items a shape has.
const shapeWidth = 50_000

// makeShapeTime looks at one tool, or at ping if there is none: what parses and validates is the same for all.
func makeShapeTime(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	text := func(n int) string { return `{"teasel_extra":` + Quote(script.LongText(n)) + `}` }
	pair := func(name, shape string, line func(arguments string) []byte) {
		one, other := script.Send(line(text(len(shape)))), script.Send(line(shape))
		emit(name, script.NewShared(ShapeTime, one, other, one, other, one, other))
	}
	keys, items := WideObject(shapeWidth), `{"teasel_extra":[`+strings.Repeat("{},", shapeWidth-1)+"{}]}"
	tools := quickTools(b, r, 1, anyTool)
	for _, t := range tools {
		call := func(arguments string) []byte { return t.CallWith(mutate.NewRaw(arguments)) }
		pair(t.Name+" keys", keys, call)
		pair(t.Name+" items", items, call)
	}
	if len(tools) == 0 {
		pair("ping keys", keys, func(params string) []byte { return jsonrpc.RequestLine("ping", mutate.NewRaw(params)) })
	}
}

// repeatItem returns the full arguments with the first item of an array repeated.
func repeatItem(c *session.Operation, name string, n int) *mutate.JSON {
	v := c.Full.Clone()
	item := v.Get(name).Items[0].String()
	v.Set(name, mutate.NewRaw("["+strings.Repeat(item+",", n-1)+item+"]"))
	return v
}

// cutTimes is how many connections are cut. A server that keeps half of them open has a leak.
const cutTimes = 96

// checkGrowthFiles cuts connections in the middle of a request, of its answer, and of a stream.
func checkGrowthFiles(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.HTTP || b.Session.Events {
		return
	}
	list := jsonrpc.RequestLine("tools/list", nil)
	cut := func(name string, s script.Step) {
		s.Close, s.Times = true, cutTimes
		var begin []script.Step
		if !b.Session.Stateless {
			begin = script.Handshake(b.Version())
		}
		emit(name, script.NewFresh(GrowthFiles, append(begin, s, script.Send(list))...)) // its answer says that the others have come
	}
	cut("request", script.Step{Line: list, Head: "Content-Length: 100000"})
	cut("answer", script.Step{Line: list})
	if !b.Session.Stateless {
		cut("stream", script.Step{Head: "GET"})
	}
}

// What growth has to come to before it is believed.
const (
	growthPoints = 4
	steepLeast   = 100e3 // microseconds, for the largest input
	steepPower   = 1.6   // of the size, by which the time grows
	shapeLeast   = 30e3  // microseconds
	shapeGrave   = 500e3 // microseconds, of which only a validator that goes over all members again and again needs as many
	shapeFactor  = 16    // times what a text of the same length takes
)

// Growth judges what the executor has measured on purpose.
func (j *Case) Growth() {
	g := j.Transcript.Growth
	if g == nil || len(g.Sizes) != len(g.Values) || len(g.Sizes) < growthPoints || len(j.Transcript.Sent) == 0 {
		return
	}
	if ended := j.endedSessions(); ended > 0 {
		j.keptSessions(ended)
		return
	}
	s := &j.Transcript.Sent[len(j.Transcript.Sent)-1]
	switch g.What {
	case "shape":
		text, shape := g.Values[0], g.Values[1]
		for i := 2; i+1 < len(g.Values); i += 2 { // others may have been in the processor's cache
			text, shape = min(text, g.Values[i]), min(shape, g.Values[i+1])
		}
		if shape >= shapeLeast && shape >= shapeFactor*text {
			severity := teasel.Low
			if shape < shapeGrave { // readers of JSON and validators take a microsecond or two for a member, and nobody waits for that
				severity = teasel.Info
			}
			j.reportAs(RuleShape, severity, j.subject(s), "", fmt.Sprintf(
				"%d bytes kept the server busy for %.0f ms, and for %.0f ms when they were one text: %s.",
				len(s.Raw), shape/1e3, text/1e3, jsonrpc.Cut(s.Raw, 160))).Alone = true
		}
	case "files":
		last := len(g.Values) - 1
		if kept := g.Values[last] - g.Values[0]; g.Values[0] > 0 && kept >= (g.Sizes[last]-g.Sizes[0])/2 {
			j.report(RuleOpenFiles, "(HTTP)", "", fmt.Sprintf("%.0f connections were cut by the client, and the server has %.0f files open that it had not before. They were those of %s.",
				g.Sizes[last]-g.Sizes[0], kept, j.Transcript.Spoken(&j.Transcript.Sent[max(len(j.Transcript.Sent)-2, 0)]))).Alone = true
		}
	case "open":
		j.keptOpen(g)
	case "memory":
		j.repeatedCall(g, s)
	case "time":
		if power, ok := steep(g); ok {
			last := len(g.Values) - 1
			j.report(RuleSlowGrowth, j.subject(s), "", fmt.Sprintf(
				"The time for a call grew with the %.1fth power of its size: %.0f ms for %.0f bytes and %.0f ms for %.0f bytes, as in %s.",
				power, g.Values[last-1]/1e3, g.Sizes[last-1], g.Values[last]/1e3, g.Sizes[last], jsonrpc.Cut(s.Raw, 160))).Alone = true
		}
	}
}

// steep fits a power of the size to the largest sizes and returns it. Two things keep a busy machine from looking like
// a slow server: each doubling has to cost clearly more than double, and the points have to lie on the curve.
func steep(g *script.Growth) (power float64, ok bool) {
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
