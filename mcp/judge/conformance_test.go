package judge

import (
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/session"
)

var hexBytes = regexp.MustCompile(`«hex:([0-9A-Fa-f]+)»`)

// TestConformantServer judges what a server that keeps to the specification answers: nothing may be found.
func TestConformantServer(t *testing.T) {
	mcptest.Computes(t)
	const file = "../../internal/plantedtest/testdata/conformance.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	for _, part := range strings.Split("\n"+string(data), "\n# ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		session := &session.Session{Version: session.Versions[len(session.Versions)-1]}
		var text strings.Builder
		for line := range strings.Lines(body) {
			switch line = strings.TrimSuffix(line, "\n"); {
			case line == "@ raw":
				text.WriteString("fresh\n")
			case strings.HasPrefix(line, "@ "):
				session.Version = line[len("@ "):]
			case strings.HasPrefix(line, ">"), strings.HasPrefix(line, "<"):
				fmt.Fprintln(&text, hexBytes.ReplaceAllStringFunc(line, testBytes))
				if line[0] == '<' {
					answers++
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range judgeText(t, session, text.String()) {
				t.Errorf("%s %s: %s\n%s", f.Rule, f.Subject, f.Message, f.Detail)
			}
		})
	}
	if answers < 150 {
		t.Errorf("%s has only %d answers", file, answers)
	}
}

// testBytes writes bytes in the way of these tests.
func testBytes(s string) string {
	data, err := hex.DecodeString(hexBytes.FindStringSubmatch(s)[1])
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	for _, c := range data {
		fmt.Fprintf(&b, "⟨%02x⟩", c)
	}
	return b.String()
}
