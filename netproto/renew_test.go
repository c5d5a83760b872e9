package netproto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A start that fails for a while does not end the campaign; one that fails again and again does, and says so.
func TestRenewTriesAgain(t *testing.T) {
	program := planted(t, "clang")
	for failing, want := range map[int]string{3: "", 1000: "it does not start any more"} {
		count := filepath.Join(t.TempDir(), "starts")
		if err := os.WriteFile(count, []byte("0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		const script = `read n <%[1]s; echo $((n + 1)) >%[1]s
if [ $n -ge 1 ] && [ $n -le %[2]d ]; then echo "bind: Address already in use" >&2; exit 1; fi
exec %[3]s $0`
		target := plantedTarget(t, program)
		target.User = currentUser(t)
		target.Command = []string{"sh", "-c", fmt.Sprintf(script, count, failing, program), "{port}"}
		e := open(t, target)
		first := e.server.Address().Port
		e.down = true
		err := e.renew(context.Background())
		if want == "" {
			if err != nil || e.server.Address().Port == first {
				t.Errorf("%d starts that fail: %v, port %s as before", failing, err, first)
			}
			continue
		}
		var in *StartError
		if !errors.As(err, &in) || !strings.Contains(in.Reason, want) || !strings.Contains(in.Stderr, "already in use") {
			t.Errorf("%d starts that fail: %v, want %q", failing, err, want)
		}
	}
}
