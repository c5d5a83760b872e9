package fleet_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

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
	for range 3 {
		if err := l.Push(ctx, &e); err != nil {
			t.Fatal(err)
		}
	}
	other := e
	other.Key, other.Data = "k2", nil
	if err := l.Push(ctx, &other); err != nil {
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

// certificate returns a server's configuration and the file of its authority.
func certificate(t *testing.T, from, to time.Time, host string) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hub"}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}, ca
}

func newUser(t *testing.T) (public string, c fleet.Credentials, option nats.Option) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err = pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if c.Seed, err = pair.Seed(); err != nil {
		t.Fatal(err)
	}
	return public, c, nats.Nkey(public, pair.Sign)
}

func permissions(r fleet.Rights) *server.Permissions {
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: r.Publish}, Subscribe: &server.SubjectPermission{Allow: r.Subscribe}}
}

// overhear listens to all that a user may listen to, and returns how many messages that has brought.
func overhear(t *testing.T, url string, r fleet.Rights, options ...nats.Option) func() int {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	var heard atomic.Int32
	for _, subject := range r.Subscribe {
		if _, err := nc.Subscribe(subject, func(*nats.Msg) { heard.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		return int(heard.Load())
	}
}

// A machine can do its work and nothing else; a stranger, and who comes with the credentials of another campaign, can do nothing.
func TestRights(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	hour := time.Hour
	now := time.Now()
	config1, ca := certificate(t, now.Add(-hour), now.Add(hour), "127.0.0.1")
	boss, _, bossOption := newUser(t)
	m1, m1Seed, m1Option := newUser(t)
	m2, m2Seed, _ := newUser(t)
	namesake, _, namesakeOption := newUser(t)
	op, opSeed, _ := newUser(t)
	_, strangerSeed, _ := newUser(t)
	s := startHub(t, func(o *server.Options) {
		o.TLS, o.TLSConfig, o.TLSTimeout = true, config1, 30
		o.Nkeys = []*server.NkeyUser{{Nkey: boss}, {Nkey: m1, Permissions: permissions(fleet.MachineRights("maze", "m1"))},
			{Nkey: m2, Permissions: permissions(fleet.MachineRights("other", "m2"))},
			{Nkey: namesake, Permissions: permissions(fleet.MachineRights("other", "m1"))}, {Nkey: op, Permissions: permissions(fleet.OperatorRights("maze", "op"))}}
	})
	js := admin(t, s.ClientURL(), bossOption, nats.RootCAs(ca))
	for _, name := range []string{"maze", "other"} {
		if err := (fleet.Layout{}).Make(ctx, js, name); err != nil {
			t.Fatal(err)
		}
	}
	with := func(seed fleet.Credentials, campaign, machine, ca string) fleet.Config {
		return fleet.Config{URL: s.ClientURL(), Credentials: seed, CA: ca, Campaign: campaign, Machine: machine}
	}
	_, err := fleet.Dial(with(strangerSeed, "maze", "m1", ca))
	problem(t, err, fleet.ProblemCredentials, "refuses these credentials")
	_, err = fleet.Dial(with(fleet.Credentials{}, "maze", "m1", ca))
	problem(t, err, fleet.ProblemCredentials, "refuses these credentials")
	_, err = fleet.Dial(with(m1Seed, "maze", "m1", ""))
	problem(t, err, fleet.ProblemCertificate, "does not verify")

	overheard := overhear(t, s.ClientURL(), fleet.MachineRights("other", "m1"), namesakeOption, nats.RootCAs(ca))
	l := dial(t, with(m1Seed, "maze", "m1", ca))
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Meet(ctx, fleet.About{Kind: "maze"}); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"push": l.Push(ctx, &fleet.Entry{Key: "k"}), "find": l.Find(ctx, find("a", 3, 5)), "beat": l.Beat(ctx, &fleet.Machine{})} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if es, _, _, err := l.Pull(ctx, 0, 10); err != nil || len(es) != 1 {
		t.Errorf("pulled %v, %v", es, err)
	}
	if n := overheard(); n > 0 {
		t.Errorf("a machine of the same name in another campaign heard %d answers", n)
	}
	err = l.Give(ctx, fleet.Order{State: fleet.Stopped})
	problem(t, err, fleet.ProblemRights, "does not allow")
	if p, ok := errors.AsType[*fleet.Problem](err); !ok || !strings.Contains(p.Hint, "maze-operator.creds") {
		t.Errorf("the hint does not name the operator's credentials: %+v", p)
	}
	operator := dial(t, with(opSeed, "maze", "op", ca))
	if err := operator.Give(ctx, fleet.Order{State: fleet.Paused}); err != nil {
		t.Error(err)
	}
	problem(t, operator.Push(ctx, &fleet.Entry{Key: "k2"}), fleet.ProblemRights, "does not allow")

	foreign := dial(t, with(m2Seed, "maze", "m2", ca)) // the credentials of another campaign
	_, err = foreign.Streams(ctx)
	problem(t, err, fleet.ProblemRights, "does not allow")
	problem(t, foreign.Push(ctx, &fleet.Entry{Key: "k3"}), fleet.ProblemRights, "does not allow")
	if _, _, _, err := foreign.Pull(ctx, 0, 10); err == nil {
		t.Error("testcases of another campaign can be read")
	}

	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	own := admin(t, s.ClientURL(), m1Option, nats.RootCAs(ca), nats.CustomInboxPrefix("_INBOX_.maze.m1"))
	if err := own.DeleteStream(short, "TEASEL_maze_ENTRIES"); err == nil {
		t.Error("a machine can delete a stream")
	}
	if st, err := own.Stream(ctx, "TEASEL_maze_ENTRIES"); err != nil {
		t.Error(err)
	} else if err := st.Purge(short); err == nil {
		t.Error("a machine can purge a stream")
	}
	st, err := js.Stream(ctx, "TEASEL_maze_ENTRIES")
	if err != nil || st.CachedInfo().State.Msgs != 1 {
		t.Errorf("there are %d testcases, %v", st.CachedInfo().State.Msgs, err)
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

// Each thing that can be wrong has a message of its own.
func TestProblems(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	now := time.Now()
	t.Run("no hub", func(t *testing.T) {
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
		problem(t, l.Push(ctx, &fleet.Entry{Key: "k"}), fleet.ProblemAway, "does not answer")
	})
	t.Run("address", func(t *testing.T) {
		for _, url := range []string{"", "nats://", "http://127.0.0.1:1", "nats://127.0.0.1:99999", "nats://127.0.0.1:0", "nats://[::1", "nats://a,nats://:4222", "nats://u:secret word@127.0.0.1:1"} {
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
	})
	t.Run("name", func(t *testing.T) {
		if _, err := fleet.Dial(fleet.Config{URL: "nats://127.0.0.1:1", Campaign: "a.b", Machine: "m1"}); err == nil || !strings.Contains(err.Error(), "letters") {
			t.Errorf("a name with a dot: %v", err)
		}
	})
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
	t.Run("no TLS", func(t *testing.T) {
		s := startHub(t)
		_, err := fleet.Dial(fleet.Config{URL: strings.Replace(s.ClientURL(), "nats:", "tls:", 1), Campaign: "maze", Machine: "m1"})
		problem(t, err, fleet.ProblemCertificate, "has no TLS")
	})
	t.Run("no JetStream", func(t *testing.T) {
		s := startHub(t, func(o *server.Options) { o.JetStream = false })
		_, err := dial(t, config(s, "m1")).Streams(ctx)
		if p, ok := errors.AsType[*fleet.Problem](err); !ok || p.Kind != fleet.ProblemLayout && p.Kind != fleet.ProblemAway {
			t.Error(err)
		}
	})
	t.Run("version", func(t *testing.T) {
		s := startHub(t)
		js := admin(t, s.ClientURL())
		if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "TEASEL_maze_ENTRIES", Subjects: []string{"teasel.maze.entries.*"}, Metadata: map[string]string{"teasel-fleet": "99"}}); err != nil {
			t.Fatal(err)
		}
		_, err := dial(t, config(s, "m1")).Streams(ctx)
		problem(t, err, fleet.ProblemVersion, `version "99"`)
	})
	t.Run("full", func(t *testing.T) {
		s := startHub(t)
		js := admin(t, s.ClientURL())
		if err := (fleet.Layout{MaxBytes: 20 << 10}).Make(ctx, js, "maze"); err != nil {
			t.Fatal(err)
		}
		l := dial(t, config(s, "m1"))
		var err error
		stored := 0
		for ; stored < 100 && err == nil; stored++ {
			err = l.Push(ctx, &fleet.Entry{Key: fmt.Sprint("k", stored), Data: make([]byte, 1<<10)})
		}
		problem(t, err, fleet.ProblemFull, "no room")
		if err := l.Push(ctx, &fleet.Entry{Key: "k0"}); err != nil { // it is there: the hub being full is not what is wrong
			t.Errorf("a testcase that is there: %v", err)
		}
		if err := (fleet.Layout{MaxBytes: 1 << 20}).Make(ctx, js, "maze"); err != nil {
			t.Fatal(err)
		}
		if err := l.Push(ctx, &fleet.Entry{Key: "last"}); err != nil {
			t.Errorf("with more room: %v", err)
		}
	})
	t.Run("large", func(t *testing.T) {
		s := startHub(t)
		l := dial(t, config(s, "m1"))
		if _, err := l.Streams(ctx); err != nil {
			t.Fatal(err)
		}
		problem(t, l.Push(ctx, &fleet.Entry{Key: "k", Data: make([]byte, fleet.MaxMessage)}), fleet.ProblemTooLarge, "larger than")
	})
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
