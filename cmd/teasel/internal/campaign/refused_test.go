package campaign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

// What a sandbox has refused is in the first line of a finding, if the program has said so; without a sandbox, and of what is no refusal, nothing
// is.
func TestRefusal(t *testing.T) {
	hidden, scratch, shown := t.TempDir(), t.TempDir(), t.TempDir()
	for _, file := range []string{hidden + "/db", hidden + "/my db", scratch + "/db", shown + "/db"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const may = " The sandbox may have caused this; see --sandbox-allow."
	for _, tt := range []struct{ message, detail, want string }{
		{"exit status 1", "cannot open /etc/app.log: Read-only file system\nbye", `exit status 1.` + may + ` The program says "cannot open /etc/app.log: Read-only file system".`},
		{"The server died.", "stderr: Error: EROFS: read-only file system, mkdir '/home/u/.cache'", "The server died. The sandbox may have"},
		{"The server died.", "getaddrinfo EAI_AGAIN api.example.com", `program says "getaddrinfo EAI_AGAIN api.example.com"`},
		{"exit status 1; connect: Network is unreachable", "", "unreachable." + may},
		{"The server died.", strings.Repeat("x", 5000) + " connect ECONNREFUSED 10.0.0.1:80", "ECONNREFUSED"},
		{"The server died.", "no such file or directory\nheap-buffer-overflow", ""},
		{"heap buffer overflow in parse a.c:3", "", ""},

		// What one side has sent to the other is not what the program has written.
		{"The server died.", "client 1 < \"open: read-only file system\"\n> \"EPERM\"\n< open ECONNREFUSED\nclient 12 > EROFS\n", ""},
		{"The server died.", "client 1 < \"open: read-only file system\"\n\nthe server has written:\nconnect ECONNREFUSED\n", `says "connect ECONNREFUSED"`},

		// A file that is not there is the sandbox's doing if it is there outside, or its folder is.
		{"status 1 (FileNotFoundError: [Errno 2] No such file or directory: '" + hidden + "/db') after a call", "", "after a call." + may},
		{"status 1 (FileNotFoundError: [Errno 2] No such file or directory: '" + hidden + "/new') after a call", "", "after a call." + may},
		{"The server died.", "ENOENT: no such file or directory, open '" + hidden + "/my db'", "ENOENT"},
		{"The server died.", "open " + hidden + "/db: no such file or directory", "db: no such file"},
		{"The server died.", "open " + hidden + "/no/db: no such file or directory", ""},
		{"The server died.", "open " + scratch + "/new: no such file or directory", ""},
		{"The server died.", "open " + shown + "/new: no such file or directory", ""},
		{"The server died.", "open " + filepath.Dir(filepath.Dir(hidden)) + "/teasel-none: no such file or directory", ""},
		{"The server died.", "open /etc/teasel-none: no such file or directory", ""},
		{"The server died.", hidden + "/db is fine", ""},
	} {
		found := teasel.Finding{Rule: "r", Severity: teasel.High, Subject: "s", Message: tt.message, Describe: func(f *teasel.Finding) { f.Detail = tt.detail }}
		all := func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding { return []teasel.Finding{found} })}
		}
		for _, sandbox := range []bool{true, false} {
			f := WithSandbox(all, SandboxOf(&flags.Isolation{Sandbox: sandbox}, scratch, nil, shown))()[0].Detect(&teasel.Observation{})[0]
			f.Describe(&f)
			if f.ID() != found.ID() || f.Detail != tt.detail {
				t.Fatalf("%q: it is another finding in a sandbox", tt.message)
			}
			if says := strings.Contains(f.Message, "sandbox may have caused"); says != (sandbox && tt.want != "") || says && !strings.Contains(f.Message, tt.want) || len(f.Message) > 400 {
				t.Errorf("%q %q, in a sandbox %v: %q", tt.message, tt.detail, sandbox, f.Message)
			}
		}
	}
}

// A finding says what its own input has come upon, and not what another one has that showed the same.
func TestRefusalOfEachInput(t *testing.T) {
	detail := "connect: connection refused"
	all := func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding {
			return []teasel.Finding{{Rule: "r", Severity: teasel.High, Subject: "s", Message: "It died.", Detail: detail}}
		})}
	}
	d := WithSandbox(all, SandboxOf(&flags.Isolation{Sandbox: true}, t.TempDir(), nil, "/"))()[0]
	for i := range 40 {
		if i == 20 {
			detail = "bye"
		}
		f := d.Detect(&teasel.Observation{})[0]
		f.Describe(&f)
		if says := strings.Contains(f.Message, "sandbox may have caused"); says != (i < 20) {
			t.Errorf("sighting %d: %q", i, f.Message)
		}
	}
}
