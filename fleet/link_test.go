package fleet_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

func find(subject string, stable, size int) *corpus.FindingFile {
	return &corpus.FindingFile{Kind: "maze", Finding: teasel.Finding{Rule: "crash", Severity: teasel.High, Subject: subject, Message: "it crashed", Input: bytes.Repeat([]byte{'x'}, size), Stable: stable, Tries: 3}}
}

func problem(t *testing.T, err error, want fleet.ProblemKind, words string) {
	t.Helper()
	p, ok := errors.AsType[*fleet.Problem](err)
	if !ok || p.Kind != want || !strings.Contains(p.Text, words) {
		t.Errorf("%v: expected a problem of kind %d that says %q", err, want, words)
	}
	if ok && p.Hint == "" {
		t.Errorf("%v has no hint", err)
	}
}

// push stores a testcase without content.
func push(t *testing.T, l *fleet.Link, key string) error {
	t.Helper()
	_, err := l.Push(t.Context(), &fleet.Entry{Key: key})
	return err
}

// A hub that ends while somebody connects to it is one that is away, and not a reason to give up.
func TestDialDying(t *testing.T) {
	t.Parallel()
	dying, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := dying.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	defer func() { _ = dying.Close(); <-ended }()
	l, err := fleet.Dial(fleet.Config{URL: "nats://" + dying.Addr().String(), Campaign: "c", Machine: "m"})
	problem(t, err, fleet.ProblemAway, "does not answer")
	if l == nil {
		t.Fatal("there is no link that would connect when the hub is back")
	}
	l.Close()
}

// An entry is stored once, whoever sends it, and read as it was sent; a finding becomes better and never worse, and is not refused when that
// happens more often than versions are kept.
func TestLink(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	l := dial(t, config(s, "m1"))
	before, err := l.Streams(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e := fleet.Entry{Key: "k1", Build: "b", Machine: "m1", Features: teasel.NewFeatureSet(1, 5, 900), Data: []byte{0, 1, 2}}
	for n := range 3 {
		if first, err := l.Push(ctx, &e); err != nil || first != (n == 0) {
			t.Fatalf("time %d: it is the first: %v, %v", n, first, err)
		}
	}
	other := e
	other.Key, other.Data = "k2", nil
	if _, err := l.Push(ctx, &other); err != nil {
		t.Fatal(err)
	}
	es, last, n, err := l.Pull(ctx, 0, 10)
	if err != nil || n != 2 || len(es) != 2 || last != 2 || es[0].Features != e.Features || !bytes.Equal(es[0].Data, e.Data) || es[1].Key != "k2" || es[1].Sequence != 2 {
		t.Errorf("pulled %+v, last %d, n %d, %v", es, last, n, err)
	}
	if es, _, n, err := l.Pull(ctx, 2, 10); err != nil || n != 0 {
		t.Errorf("at the end there is %v, %v", es, err)
	}
	for _, size := range []int{90, 80, 85, 70, 60, 50, 40, 30, 35} {
		if err := l.Find(ctx, find("a", 3, size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Find(ctx, find("a", 1, 3)); err != nil { // simpler, but flaky
		t.Fatal(err)
	}
	best, err := l.Best(ctx)
	if err != nil || len(best) != 1 || len(best[0].Finding.Input) != 30 {
		t.Errorf("best %+v, %v", best, err)
	}
	after, err := l.Streams(ctx)
	if err != nil || !after.Birth.Equal(before.Birth) || after.Last != 2 {
		t.Errorf("streams %+v, then %+v, %v", before, after, err)
	}
}

func TestMachinesAndOrders(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	l, l2 := dial(t, config(s, "m1")), dial(t, config(s, "m2"))
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	mine := fleet.About{Kind: "maze", Target: "maze", Version: "1"}
	if got, err := l.Meet(ctx, mine); err != nil || got != mine {
		t.Errorf("met %v, %v", got, err)
	}
	second := mine
	second.Build = "other"
	if got, err := l2.Meet(ctx, second); err != nil || got != mine {
		t.Errorf("met %v, %v", got, err)
	}
	second.Kind = "native"
	_, err := l2.Meet(ctx, second)
	problem(t, err, fleet.ProblemCampaign, "kind maze")
	for _, x := range []*fleet.Link{l, l2} {
		if err := x.Beat(ctx, &fleet.Machine{Every: time.Hour, Executions: 7}); err != nil {
			t.Fatal(err)
		}
	}
	ms, err := l.Machines(ctx, "")
	if err != nil || len(ms) != 2 || ms[1].Name != "m2" || ms[0].Executions != 7 || ms[0].Gone {
		t.Errorf("machines %+v, %v", ms, err)
	}
	if o, err := l.Order(ctx); err != nil || o.State != "" {
		t.Errorf("order %+v, %v", o, err)
	}
	if err := l2.Give(ctx, fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	<-l.Wake()
	if o, err := l.Order(ctx); err != nil || o.State != fleet.Stopped || o.By != "m2" {
		t.Errorf("order %+v, %v", o, err)
	}
	problem(t, l.MayBegin(ctx), fleet.ProblemStopped, "was told to stop, by m2")
	if names, err := l.Campaigns(ctx); err != nil || len(names) != 1 || names[0] != "maze" {
		t.Errorf("campaigns %q, %v", names, err)
	}
}

// A finding that is too large for the server only with the input that it was found with is stored without that.
func TestFindSmallServer(t *testing.T) {
	t.Parallel()
	l := dial(t, config(startHub(t, func(o *server.Options) { o.MaxPayload = 64 << 10 }), "m1"))
	if _, err := l.Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := find("a", 3, 5)
	f.Finding.Original = bytes.Repeat([]byte{'x'}, 100<<10)
	if err := l.Find(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if best, err := l.Best(t.Context()); err != nil || len(best) != 1 || len(best[0].Finding.Input) != 5 {
		t.Errorf("the hub has %d findings, %v", len(best), err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c, _ := newUser(t)
	c.Campaign, c.Machine = "parser", "m1"
	text, err := c.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, text, want string }{
		{"ours", string(text), ""}, {"seed", string(c.Seed) + "\n", ""}, {"none", "campaign a\n", "expected the seed"}, {"other", "hello\n", ":1: expected campaign"},
	} {
		path := filepath.Join(dir, x.name)
		if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := fleet.ReadCredentials(path)
		if x.want == "" && (err != nil || !bytes.Equal(got.Seed, c.Seed)) || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %+v, %v", x.name, got, err)
		}
	}
}

func TestEntryDecoding(t *testing.T) {
	t.Parallel()
	e := fleet.Entry{Build: "b", Machine: "m", Features: teasel.NewFeatureSet(3, 4), Data: []byte("abc")}
	data, err := e.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if err := new(fleet.Entry).UnmarshalBinary(data[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are an entry", n, len(data))
		}
	}
	e.Unstable = teasel.NewFeatureSet(7, 8)
	if data, err = e.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	var got fleet.Entry
	if err := got.UnmarshalBinary(append(data, 1, 2)); err != nil || got.Unstable != e.Unstable || got.Features != e.Features {
		t.Errorf("an entry with a part of a later version: %+v, %v", got, err)
	}
}
