package main

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/report"
)

// coverageOf returns what the testcases in a campaign's directory reach. Broken files are left out: they were reported when the
// directory was opened.
func coverageOf(dir *corpus.Dir) (c report.Coverage) {
	m := dir.Meta()
	s, _, err := dir.Snapshot(nil)
	if err != nil {
		return c
	}
	return coverageIn(&m, s.Entries)
}

// coverageIn returns what these testcases of a campaign reach.
func coverageIn(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	k, err := kindOf(m.Kind, "a campaign")
	if err != nil || k.coverage == nil {
		return c
	}
	return k.coverage(m, entries)
}

// nativeCoverage counts edges, which only an instrumented program has.
func nativeCoverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	if m.Edges == 0 {
		return c
	}
	edges := corpus.EdgeSet{}
	for i := range entries {
		edges.Add(entries[i].Features)
	}
	c.Edges = report.Reach{Reached: len(edges), Total: m.Edges}
	return c
}

// netCoverage counts edges of the server, and states and transitions of the model if that can still be read.
func netCoverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	var reached []teasel.FeatureSet
	for i := range entries {
		reached = append(reached, entries[i].Features)
	}
	c.Edges.Reached = netproto.Edges(reached)
	var nt netTarget
	if err := campaign.ReadTarget(m.Target, &nt); err != nil || nt.Model == "" {
		return c
	}
	target, err := nt.target()
	if err != nil {
		return c
	}
	for _, s := range netproto.States(target.Model, reached) {
		count(&c.States, s.Times > 0)
		for _, step := range s.Steps {
			if step.Declared {
				count(&c.Transitions, step.Times > 0)
			}
		}
	}
	return c
}

// count counts one thing, which was reached or not.
func count(r *report.Reach, reached bool) {
	r.Total++
	if reached {
		r.Reached++
	}
}

// mcpCoverage counts the tools and methods that testcases call.
func mcpCoverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	sess := &session.Session{}
	for _, s := range m.Subjects {
		if name, ok := strings.CutPrefix(s, "tools/call "); ok {
			sess.Tools = append(sess.Tools, session.Tool{Name: name})
		}
	}
	tools, methods := map[string]bool{}, map[string]bool{}
	for i := range entries {
		script, err := script.Codec{}.Decode(entries[i].Data)
		if err != nil {
			continue
		}
		for _, step := range script.Steps {
			message := jsonrpc.Parse(step.Line)
			subject := session.Subject(sess, &message)
			if message.Class != jsonrpc.ClassRequest || strings.HasPrefix(subject, "(") {
				continue
			}
			methods[message.Method] = true
			if slices.Contains(m.Subjects, subject) && message.Method == "tools/call" {
				tools[subject] = true
			}
		}
	}
	c.Tools = report.Reach{Reached: len(tools), Total: len(sess.Tools)}
	c.Methods.Reached = len(methods)
	return c
}
