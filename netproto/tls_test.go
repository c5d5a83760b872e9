package netproto

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A dialogue over TLS is held like any other: with openssl's server, which sends each line back reversed.
func TestTLS(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
	dir := t.TempDir()
	key, certificate := filepath.Join(dir, "key"), filepath.Join(dir, "certificate")
	made := exec.Command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	target := Target{Address: "tls://127.0.0.1:{port}", User: "root",
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
