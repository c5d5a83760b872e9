package conn

import (
	"strings"
	"testing"
)

// What a server says that it lacks is named with what to do about it.
func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		stderr   string
		ordinary bool
		want     string
	}{
		{"in.tftpd: cannot set groups for user nobody", true, "--user root"},
		{"in.tftpd: cannot set groups for user nobody", false, "run teasel as root"},
		{"Missing privilege separation directory: /run/sshd", false, "mkdir -p"},
		{"open(/etc/x.conf): No such file or directory", true, "mkdir -p"},
		{"bad configuration", true, ""},
	} {
		if got := missing(tt.stderr, tt.ordinary); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%q: %q, want %q", tt.stderr, got, tt.want)
		}
	}
}

// An argument that names a file in the working directory of teasel is one that the server does not find.
func TestElsewhere(t *testing.T) {
	for _, tt := range []struct {
		c    Command
		want string
	}{
		{Command{Args: []string{"python3", "missing_test.go", "{port}"}}, "--dir ."},
		{Command{Args: []string{"python3", "missing_test.go"}, Dir: "."}, ""},
		{Command{Args: []string{"python3", "/missing_test.go"}}, ""},
		{Command{Args: []string{"missing_test.go", "nothing.py", ""}}, ""},
	} {
		if got := tt.c.elsewhere(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%q: %q, want %q", tt.c.Args, got, tt.want)
		}
	}
}

func TestNoLibrary(t *testing.T) {
	const stderr = "./srv: error while loading shared libraries: libx.so.1: cannot open shared object file: No such file or directory"
	if got := noLibrary(stderr); !strings.Contains(got, "library libx.so.1,") || noLibrary("bad configuration") != "" {
		t.Errorf("%q: %q", stderr, got)
	}
}
