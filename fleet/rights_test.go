package fleet_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
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

	"github.com/teaselfuzz/teasel/fleet"
)

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

// guarded is a hub with a certificate that knows users: m1 and an operator of campaign maze, m2 and another m1 of campaign other.
type guarded struct {
	*server.Server
	ca                       string
	m1, m2, operator         fleet.Credentials
	m1Option, namesakeOption nats.Option
	js                       jetstream.JetStream // with all rights
}

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	now := time.Now()
	g := &guarded{}
	var config *tls.Config
	config, g.ca = certificate(t, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1")
	boss, _, bossOption := newUser(t)
	m1, m1Seed, m1Option := newUser(t)
	m2, m2Seed, _ := newUser(t)
	namesake, _, namesakeOption := newUser(t)
	operator, operatorSeed, _ := newUser(t)
	g.m1, g.m2, g.operator, g.m1Option, g.namesakeOption = m1Seed, m2Seed, operatorSeed, m1Option, namesakeOption
	g.Server = startHub(t, func(o *server.Options) {
		o.TLS, o.TLSConfig, o.TLSTimeout = true, config, 30
		o.Nkeys = []*server.NkeyUser{{Nkey: boss}, {Nkey: m1, Permissions: permissions(fleet.MachineRights("maze", "m1"))},
			{Nkey: m2, Permissions: permissions(fleet.MachineRights("other", "m2"))},
			{Nkey: namesake, Permissions: permissions(fleet.MachineRights("other", "m1"))}, {Nkey: operator, Permissions: permissions(fleet.OperatorRights("maze", "op"))}}
	})
	g.js = admin(t, g.ClientURL(), bossOption, nats.RootCAs(g.ca))
	for _, name := range []string{"maze", "other"} {
		if err := (fleet.Layout{}).Make(t.Context(), g.js, name); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *guarded) as(c fleet.Credentials, campaign, machine string) fleet.Config {
	return fleet.Config{URL: g.ClientURL(), Credentials: c, CA: g.ca, Campaign: campaign, Machine: machine}
}

// A stranger gets no connection, and neither does who does not trust the hub.
func TestStranger(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	_, stranger, _ := newUser(t)
	_, err := fleet.Dial(g.as(stranger, "maze", "m1"))
	problem(t, err, fleet.ProblemCredentials, "refuses these credentials")
	_, err = fleet.Dial(g.as(fleet.Credentials{}, "maze", "m1"))
	problem(t, err, fleet.ProblemCredentials, "refuses these credentials")
	distrusts := g.as(g.m1, "maze", "m1")
	distrusts.CA = ""
	_, err = fleet.Dial(distrusts)
	problem(t, err, fleet.ProblemCertificate, "does not verify")
}

// A machine can do its work, unheard by others, and gives no orders; an operator gives orders, and sends nothing.
func TestRights(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := startGuarded(t)
	overheard := overhear(t, g.ClientURL(), fleet.MachineRights("other", "m1"), g.namesakeOption, nats.RootCAs(g.ca))
	l := dial(t, g.as(g.m1, "maze", "m1"))
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Meet(ctx, fleet.About{Kind: "maze"}); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"push": push(t, l, "k"), "find": l.Find(ctx, find("a", 3, 5)), "beat": l.Beat(ctx, &fleet.Machine{})} {
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
	err := l.Give(ctx, fleet.Order{State: fleet.Stopped})
	problem(t, err, fleet.ProblemRights, "does not allow")
	if p, ok := errors.AsType[*fleet.Problem](err); !ok || !strings.Contains(p.Hint, "maze-operator.creds") {
		t.Errorf("the hint does not name the operator's credentials: %+v", p)
	}
	operator := dial(t, g.as(g.operator, "maze", "op"))
	if err := operator.Give(ctx, fleet.Order{State: fleet.Paused}); err != nil {
		t.Error(err)
	}
	problem(t, push(t, operator, "k2"), fleet.ProblemRights, "does not allow")
}

// Who comes with the credentials of another campaign can do nothing.
func TestForeignCampaign(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	foreign := dial(t, g.as(g.m2, "maze", "m2"))
	_, err := foreign.Streams(t.Context())
	problem(t, err, fleet.ProblemRights, "does not allow")
	problem(t, push(t, foreign, "k3"), fleet.ProblemRights, "does not allow")
	if _, _, _, err := foreign.Pull(t.Context(), 0, 10); err == nil {
		t.Error("testcases of another campaign can be read")
	}
}

// A machine cannot remove what is there.
func TestMachineRemovesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := startGuarded(t)
	if err := push(t, dial(t, g.as(g.m1, "maze", "m1")), "k"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	own := admin(t, g.ClientURL(), g.m1Option, nats.RootCAs(g.ca), nats.CustomInboxPrefix("_INBOX_.maze.m1"))
	if err := own.DeleteStream(short, "TEASEL_maze_ENTRIES"); err == nil {
		t.Error("a machine can delete a stream")
	}
	if st, err := own.Stream(ctx, "TEASEL_maze_ENTRIES"); err != nil {
		t.Error(err)
	} else if err := st.Purge(short); err == nil {
		t.Error("a machine can purge a stream")
	}
	st, err := g.js.Stream(ctx, "TEASEL_maze_ENTRIES")
	if err != nil || st.CachedInfo().State.Msgs != 1 {
		t.Errorf("there are %d testcases, %v", st.CachedInfo().State.Msgs, err)
	}
}
