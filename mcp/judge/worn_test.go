package judge

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestWornByCalls: a server that ends of one call again and again, which no ping does, ends of that call, as far as is known.
func TestWornByCalls(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                     "whatever they are",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"draw_line"}}`: "when tools/call draw_line is sent again",
	} {
		transcript := script.Transcript{
			Script: &script.Script{Steps: []script.Step{{Line: []byte(line), Times: 200}}}, Session: &noSession, Worn: 100, End: script.End{Kind: script.EndExited, Code: 1},
			Sent: []script.Sent{{Raw: []byte(line), Message: jsonrpc.Parse([]byte(line)), Regular: true, Answer: -1}},
		}
		found := Detectors(DetectorConfig{})[0].Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: &transcript})
		if len(found) != 1 || !strings.Contains(found[0].Message, want) {
			t.Errorf("after %s: %+v, want one that says %q", line, found, want)
		}
	}
}
