package fleet_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/fleet"
)

// received returns how many messages the hub has sent to a machine.
func received(t *testing.T, s *server.Server, machine string) (n int64) {
	t.Helper()
	c, err := s.Connz(&server.ConnzOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range c.Conns {
		if x.Name == "teasel "+machine {
			n += x.OutMsgs
		}
	}
	return n
}

// storedCover is what the hub has as the cover of a campaign; without keys: it has none.
type storedCover struct {
	Through uint64
	Keys    []string
}

func coverOf(t *testing.T, js jetstream.JetStream) (c storedCover) {
	t.Helper()
	control, err := js.Stream(t.Context(), "TEASEL_maze_CONTROL")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := control.GetLastMsgForSubject(t.Context(), "teasel.maze.control.cover"); err == nil {
		if err := json.Unmarshal(m.Data, &c); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// reads joins a machine until it has some inputs, and returns how many messages the hub has sent it by then.
func reads(t *testing.T, s *server.Server, machine string, inputs ...string) int64 {
	t.Helper()
	m := join(t, dial(t, config(s, machine)), fleet.Options{})
	missing := map[string]bool{}
	for _, in := range inputs {
		missing[in] = true
	}
	until(t, "it has what reaches everything", func() bool {
		in, err := m.Pull(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range in.Inputs {
			delete(missing, string(data))
		}
		return len(missing) == 0
	})
	n := received(t, s, machine)
	if e, f := m.close(); e+f > 0 {
		t.Errorf("%d testcases and %d findings are left", e, f)
	}
	return n
}

// A machine that joins a campaign with many redundant testcases reads a few of them, which reach what all reach, and those that came
// after. That goes on when the machine that has said which they are is gone, and when one of them is.
func TestCover(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t, func(o *server.Options) { o.SyncAlways = false })
	js := admin(t, s.ClientURL())
	watch := watching(t, config(s, "watch"))
	const all = 250
	var nested []teasel.Feature
	first := join(t, dial(t, config(s, "m1")), fleet.Options{})
	for i := range all { // each reaches what those before reach, and more
		nested = append(nested, teasel.Feature(i+1))
		first.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry(fmt.Sprintf("k%03d", i), nested...)})
	}
	other := join(t, dial(t, config(s, "m2")), fleet.Options{Build: "another"})
	other.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("theirs", 1)})
	until(t, "there is a cover", func() bool { return len(coverOf(t, js).Keys) > 0 })
	other.close()
	first.close()
	c := coverOf(t, js)
	if slices.Contains(c.Keys, "k000") || len(c.Keys) > all/4 {
		t.Errorf("the cover of %d testcases has %d", c.Through, len(c.Keys))
	}
	later := join(t, dial(t, config(s, "m3")), fleet.Options{})
	later.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("later", 1000)})
	later.close()

	last := fmt.Sprintf("k%03d", all-1)
	if n := reads(t, s, "late", "later", last); n > all/2 {
		t.Errorf("it was sent %d messages, and there are %d testcases", n, all)
	}
	c.Keys = append(c.Keys, "gone")
	streams, err := watch.Streams(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for what, birth := range map[string]time.Time{"names a testcase that is gone": streams.Birth, "is of another stream": streams.Birth.Add(-time.Hour)} {
		text, err := json.Marshal(map[string]any{"version": 1, "birth": birth, "through": c.Through, "keys": c.Keys})
		if err == nil {
			_, err = js.Publish(ctx, "teasel.maze.control.cover", text)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := reads(t, s, "late", "later", last); n < all {
			t.Errorf("the cover %s: it was sent %d messages, and should have read all of %d testcases", what, n, all)
		}
	}
}
