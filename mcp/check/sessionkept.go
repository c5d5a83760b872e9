package check

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// How many sessions are begun and ended while open files are counted, and while memory is measured, of which one may take little.
const (
	filesSessions  = 96
	memorySessions = 256
)

// checkEndedSessions begins sessions and ends each before the next begins. A server that has sessions can keep nothing of one that a client
// has ended.
func checkEndedSessions(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.HTTP || b.Session.Events || b.Session.Stateless || !b.Session.HasID {
		return
	}
	emit("ended sessions, files", script.NewFresh(GrowthFiles, endedSessions(b.Version(), filesSessions)...))
	emit("ended sessions, memory", script.NewFresh(GrowthMemory, endedSessions(b.Version(), memorySessions)...))
}

// endedSessions returns steps that begin and end so many sessions.
func endedSessions(version string, n int) []script.Step {
	steps := script.Handshake(version)
	for range n {
		end := fmt.Sprintf("DELETE\nMcp-Session-Id: @{%d:Mcp-Session-Id}", len(steps))
		steps = append(steps, script.Step{Line: session.InitializeLine(version), Head: "Mcp-Session-Id:"}, withHead("", end))
	}
	return append(steps, script.SendText(session.PingLine)) // in its own session
}

// endedSessions returns how many sessions a script has ended, if it was that for which growth was measured: 0 says that it was not, or that
// the server does not let clients end sessions.
func (j *Case) endedSessions() (ended int) {
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		if change := conn.ParseHead(j.Transcript.Head(s)); change.Method != "DELETE" {
			continue
		} else if s.Status/100 != 2 {
			return 0
		}
		ended++
	}
	return ended
}

// keptSessions judges what a server holds after sessions that were ended.
func (j *Case) keptSessions(ended int) {
	g := j.Transcript.Growth
	last := len(g.Values) - 1
	switch grown := g.Values[last] - g.Values[0]; g.What {
	case "files":
		if g.Values[0] > 0 && grown >= float64(ended)/2 {
			j.report(RuleSessionKept, "(HTTP)", "", fmt.Sprintf("%d sessions were begun, and ended by DELETE, and the server has %.0f files open that it had not before.", ended, grown)).Alone = true
		}
	case "memory":
		if _, ok := leaks(g); ok {
			j.report(RuleSessionKept, "(HTTP)", "", fmt.Sprintf("Memory grew from %.0f to %.0f MB while %d sessions were begun, and ended by DELETE, %.0f KB for each.",
				g.Values[0]/(1<<20), g.Values[last]/(1<<20), ended, grown/1024/float64(ended))).Alone = true
		}
	}
}
