package netproto

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// selfSigned makes a key and a certificate.
func selfSigned(t *testing.T) (key, certificate string) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
	dir := t.TempDir()
	key, certificate = filepath.Join(dir, "key"), filepath.Join(dir, "certificate")
	made := exec.Command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return key, certificate
}

// A dialogue over TLS is held like any other: with openssl's server, which sends each line back reversed.
func TestTLS(t *testing.T) {
	key, certificate := selfSigned(t)
	target := Target{Address: "tls://127.0.0.1:{port}", User: currentUser(t),
		Command: []string{"openssl", "s_server", "-rev", "-quiet", "-accept", "127.0.0.1:{port}", "-key", key, "-cert", certificate}}
	for _, keep := range []bool{false, true} {
		target.Keep = keep
		e := open(t, target)
		for range 3 {
			var o teasel.Observation
			if err := e.Exec(context.Background(), dialogue.Raw([]byte("drawer\n"), []byte("stressed\n")), &o); err != nil {
				t.Fatal(err)
			}
			var heard []string
			for _, turn := range e.evidence.Talk {
				heard = append(heard, string(turn.Received))
			}
			if got := strings.Join(heard, ""); got != "reward\ndesserts\n" || o.Exit != teasel.ExitOK {
				t.Errorf("keep %v: %v, the server has answered %q", keep, o.Exit, got)
			}
		}
	}
}

// python returns the path of Python 3, which a test needs.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
	return path
}

// A server that no longer comes to terms over TLS takes no connections any more, whatever it does in place of that.
func TestTLSHandshakeFails(t *testing.T) {
	key, certificate := selfSigned(t)
	program, err := filepath.Abs("testdata/planted/tls.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"close", "garbage", "stall"} {
		t.Run(mode, func(t *testing.T) {
			target := Target{Address: "tls://127.0.0.1:{port}", User: currentUser(t),
				Command: []string{python(t), program, mode, "{port}", certificate, key}}
			e := open(t, target)
			if fs, _, err := teasel.Replay(context.Background(), e, Detectors(), dialogue.Raw([]byte("x\n"))); err != nil || len(fs) > 0 {
				t.Fatalf("a server that is well: %v, %v", fs, err)
			}
			in := dialogue.Raw([]byte("\xff\n"), []byte("x\n"))
			in.Messages[1].Reconnect = true
			fs, o, err := teasel.Replay(context.Background(), e, Detectors(), in)
			if err != nil || len(fs) != 1 || fs[0].Rule != judge.RuleClosed || !strings.Contains(fs[0].Message, "TLS handshake failed") {
				t.Errorf("%v, %v, %v; want one of %s", o.Exit, fs, err, judge.RuleClosed)
			}
			target.Command = append(target.Command, "from the start")
			var failed *StartError
			if _, err := target.Inspect(context.Background()); !errors.As(err, &failed) || !strings.Contains(failed.Reason, "TLS handshake failed") || failed.Hint == "" {
				t.Errorf("from the start: %v", err)
			}
		})
	}
}

// currentUser names the user that we are, for servers that are to read files of the test's.
func currentUser(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}
