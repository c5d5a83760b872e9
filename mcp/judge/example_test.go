package judge_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func ExampleDetectors() {
	in := script.Script{Steps: []script.Step{{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"ping"}`)}}}
	transcript := script.Transcript{
		Script: &in, Session: new(session.Session), Hung: true,
		Sent: []script.Sent{{Raw: in.Steps[0].Line, Message: jsonrpc.Parse(in.Steps[0].Line), Regular: true, Answer: -1}},
	}
	for _, d := range judge.Detectors(judge.DetectorConfig{}) {
		for _, f := range d.Detect(&teasel.Observation{Evidence: &transcript}) {
			fmt.Println(f.Rule, f.Severity)
		}
	}
	// Output: mcp/hang high
}
