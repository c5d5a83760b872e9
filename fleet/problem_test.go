package fleet_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel/fleet"
)

// Each thing that can be wrong has a message of its own.

func TestNoHub(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := fleet.Dial(fleet.Config{URL: "nats://" + address, Campaign: "maze", Machine: "m1"})
	problem(t, err, fleet.ProblemAway, "does not answer")
	if l == nil {
		t.Fatal("there is no link that could connect later")
	}
	defer l.Close()
	problem(t, push(t, l, "k"), fleet.ProblemAway, "does not answer")
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "nats://", "http://127.0.0.1:1", "nats://127.0.0.1:99999", "nats://127.0.0.1:0", "nats://[::1", "nats://a,nats://:4222",
		"nats://u:secret word@127.0.0.1:1"} {
		l, err := fleet.Dial(fleet.Config{URL: url, Campaign: "maze", Machine: "m1"})
		if _, ok := errors.AsType[*fleet.Problem](err); l != nil || err == nil || ok || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, user := range []string{"u:secret", "secret"} {
		l, err := fleet.Dial(fleet.Config{URL: "nats://" + user + "@127.0.0.1:1", Campaign: "maze", Machine: "m1"})
		p, ok := errors.AsType[*fleet.Problem](err)
		if !ok || p.Kind != fleet.ProblemAway || strings.Contains(p.Text+p.Hint, "secret") {
			t.Errorf("%s: %v", user, err)
		}
		if l != nil {
			l.Close()
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	if _, err := fleet.Dial(fleet.Config{URL: "nats://127.0.0.1:1", Campaign: "a.b", Machine: "m1"}); err == nil || !strings.Contains(err.Error(), "letters") {
		t.Errorf("a name with a dot: %v", err)
	}
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name, host, words string
		from, to          time.Duration
	}{{"expired", "127.0.0.1", "at this machine's time", -2 * time.Hour, -time.Hour}, {"host", "hub.example.org", "for another name", -time.Hour, time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			config, ca := certificate(t, now.Add(c.from), now.Add(c.to), c.host)
			s := startHub(t, func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, config, 30 })
			_, err := fleet.Dial(fleet.Config{URL: s.ClientURL(), CA: ca, Campaign: "maze", Machine: "m1"})
			problem(t, err, fleet.ProblemCertificate, c.words)
		})
	}
}

func TestNoTLS(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	_, err := fleet.Dial(fleet.Config{URL: strings.Replace(s.ClientURL(), "nats:", "tls:", 1), Campaign: "maze", Machine: "m1"})
	problem(t, err, fleet.ProblemCertificate, "has no TLS")
}

func TestNoJetStream(t *testing.T) {
	t.Parallel()
	s := startHub(t, func(o *server.Options) { o.JetStream = false })
	_, err := dial(t, config(s, "m1")).Streams(t.Context())
	if p, ok := errors.AsType[*fleet.Problem](err); !ok || p.Kind != fleet.ProblemLayout && p.Kind != fleet.ProblemAway {
		t.Error(err)
	}
}

func TestOtherVersion(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	js := admin(t, s.ClientURL())
	c := jetstream.StreamConfig{Name: "TEASEL_maze_ENTRIES", Subjects: []string{"teasel.maze.entries.*"}, Metadata: map[string]string{"teasel-fleet": "99"}}
	if _, err := js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	_, err := dial(t, config(s, "m1")).Streams(t.Context())
	problem(t, err, fleet.ProblemVersion, `version "99"`)
}

func TestFull(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	js := admin(t, s.ClientURL())
	if err := (fleet.Layout{MaxBytes: 20 << 10}).Make(ctx, js, "maze"); err != nil {
		t.Fatal(err)
	}
	l := dial(t, config(s, "m1"))
	var err error
	stored := 0
	for ; stored < 100 && err == nil; stored++ {
		_, err = l.Push(ctx, &fleet.Entry{Key: fmt.Sprint("k", stored), Data: make([]byte, 1<<10)})
	}
	problem(t, err, fleet.ProblemFull, "no room")
	if _, err := l.Push(ctx, &fleet.Entry{Key: "k0"}); err != nil { // it is there: the hub being full is not what is wrong
		t.Errorf("a testcase that is there: %v", err)
	}
	if err := (fleet.Layout{MaxBytes: 1 << 20}).Make(ctx, js, "maze"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Push(ctx, &fleet.Entry{Key: "last"}); err != nil {
		t.Errorf("with more room: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	l := dial(t, config(s, "m1"))
	if _, err := l.Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := l.Push(t.Context(), &fleet.Entry{Key: "k", Data: make([]byte, fleet.MaxMessage)})
	problem(t, err, fleet.ProblemTooLarge, "larger than")
}
