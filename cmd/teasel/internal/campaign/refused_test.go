package campaign

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

// What a sandbox has refused is in the first line of a finding, if the program has said so; without a sandbox, and of what is no refusal, nothing
// is.
func TestRefusal(t *testing.T) {
	for _, tt := range []struct{ message, detail, want string }{
		{"exit status 1", "cannot open /etc/app.log: Read-only file system\nbye", `exit status 1. The sandbox may have caused this; see --sandbox-allow. The program says "cannot open /etc/app.log: Read-only file system".`},
		{"The server died.", "stderr: Error: EROFS: read-only file system, mkdir '/home/u/.cache'", "The server died. The sandbox may have"},
		{"The server died.", "getaddrinfo EAI_AGAIN api.example.com", `program says "getaddrinfo EAI_AGAIN api.example.com"`},
		{"exit status 1; connect: Network is unreachable", "", "unreachable. The sandbox may have caused this; see --sandbox-allow."},
		{"The server died.", strings.Repeat("x", 5000) + " connect ECONNREFUSED 10.0.0.1:80", "ECONNREFUSED"},
		{"The server died.", "no such file or directory\nheap-buffer-overflow", ""},
		{"heap buffer overflow in parse a.c:3", "", ""},
	} {
		found := teasel.Finding{Rule: "r", Severity: teasel.High, Subject: "s", Message: tt.message, Describe: func() string { return tt.detail }}
		all := func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding { return []teasel.Finding{found} })}
		}
		for _, sandbox := range []bool{true, false} {
			d := WithSandbox(all, &flags.Isolation{Sandbox: sandbox})()[0]
			for range 2 * mostDescribed { // not all of them are described, and all of them say it
				f := d.Detect(&teasel.Observation{})[0]
				if f.ID() != found.ID() {
					t.Fatalf("%q: it is another finding in a sandbox", tt.message)
				}
				if says := strings.Contains(f.Message, "sandbox may have caused"); says != (sandbox && tt.want != "") || says && !strings.Contains(f.Message, tt.want) || len(f.Message) > 400 {
					t.Errorf("%q, in a sandbox %v: %q", tt.message, sandbox, f.Message)
				}
			}
		}
	}
}
