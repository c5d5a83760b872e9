package script_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestCodecIsReadByOthers: Python's json reads a script whatever its lines hold, and decoding gives the same lines back.
func TestCodecIsReadByOthers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		mcptest.Missing(t, err)
	}
	for name, line := range map[string]string{
		"plain":                    `{"jsonrpc":"2.0","id":"@id","method":"ping"}`,
		"deep arrays":              `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
		"deep objects":             strings.Repeat(`{"a":`, 1200) + "1" + strings.Repeat("}", 1200),
		"a very long number":       `{"a":` + strings.Repeat("9", 20_000) + `}`,
		"brackets in a string":     `{"a":"` + strings.Repeat(`[{\"`, 3000) + `"}`,
		"wide":                     `[` + strings.Repeat("[],", 3000) + `0]`,
		"an exponent that is huge": `{"a":1e999}`,
		"half a pair":              `{"a":"\ud800"}`,
		"no UTF-8":                 "{\"a\":\"\xff\"}",
		"no JSON":                  `{"a":NaN`,
	} {
		t.Run(name, func(t *testing.T) {
			in := script.NewShared("", script.SendText(line))
			data, err := script.Codec{}.Encode(in)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), python, "-c", "import json,sys; json.load(sys.stdin.buffer)")
			cmd.Stdin = strings.NewReader(string(data))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("Python: %v: %s", err, out[max(0, len(out)-200):])
			}
			back, err := script.Codec{}.Decode(data)
			if err != nil || !script.Same(&in, &back) {
				t.Errorf("decoded otherwise: %v", err)
			}
		})
	}
}
