package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// TestMain is a machine of a fleet, or a hub, in a process of its own if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("FLEET_HUB") != "" {
		os.Exit(hubProcess())
	}
	if os.Getenv("FLEET_URL") != "" {
		os.Exit(machineProcess())
	}
	os.Exit(m.Run())
}

// startHub starts a hub in this process, as teasel-hub has it, and stops it when the test ends.
func startHub(t *testing.T, change ...func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, SyncAlways: true,
		MaxPayload: fleet.MaxMessage, JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 64 << 20}
	for _, c := range change {
		c(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the hub is not ready")
	}
	return s
}

func hubProcess() int {
	port, err := strconv.Atoi(os.Getenv("FLEET_PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: os.Getenv("FLEET_HUB"), NoSigs: true, NoLog: true, SyncAlways: true,
		MaxPayload: fleet.MaxMessage, JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 64 << 20})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.Start()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	s.Shutdown()
	return 0
}

// machineProcess runs a campaign on the maze in FLEET_DIR until SIGTERM, or for FLEET_SECONDS.
func machineProcess() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	seed, _ := strconv.ParseUint(os.Getenv("FLEET_SEED"), 10, 64)
	if err := runMaze(ctx, os.Getenv("FLEET_DIR"), os.Getenv("FLEET_URL"), os.Getenv("FLEET_MACHINE"), seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runMaze runs, or resumes, the campaign of a machine until ctx ends.
func runMaze(ctx context.Context, dir, url, machine string, seed uint64) error {
	c := mazeCampaign(seed)
	meta := corpus.Meta{Version: "test", Kind: "maze", Name: "maze", Seed: seed}
	d, err := corpus.Create(dir, meta)
	if err != nil {
		if d, err = corpus.Open(dir); err != nil {
			return err
		}
		s, _, err := d.Snapshot(nil)
		if err != nil {
			return err
		}
		c.Resume = &s
	}
	l, err := fleet.Dial(fleet.Config{URL: url, Campaign: "maze", Machine: machine})
	if l == nil {
		return err
	}
	defer l.Close()
	b, err := fleet.NewBridge(l, fleet.Options{Dir: dir, Meta: meta, Hold: 100 * time.Millisecond, Every: 200 * time.Millisecond, Existing: c.Resume})
	if err != nil {
		return err
	}
	b.Start()
	c.Reporters, c.Source, c.Errands = []teasel.Reporter{d, b}, b, true
	sum, err := c.Run(ctx)
	if _, _, e := b.Close(sum.Stopped); err == nil {
		err = e
	}
	if e := d.Finish(sum); err == nil {
		err = e
	}
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

// maze is a slow target with 6 passages of 4 doors each; a bug is behind the last door of each.
type maze struct{}

const (
	passages = 6
	doors    = 4
)

func (maze) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return maze{}, nil }

func (maze) Close() error { return nil }

func (maze) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	time.Sleep(100 * time.Microsecond)
	o.Exit = teasel.ExitOK
	for p := range passages {
		d := 0
		for ; d < doors && p*doors+d < len(in) && in[p*doors+d]&31 == byte(13*p+7*d+5)&31; d++ {
			o.Features = append(o.Features, teasel.Feature(1+p*10+d))
		}
		if d == doors {
			o.Exit, o.Detail = teasel.ExitCrash, fmt.Sprintf("passage %d", p)
		}
	}
	o.Features = append(o.Features, 100)
	return nil
}

type flip struct{}

func (flip) Generate(*teasel.Rand) []byte { return make([]byte, passages*doors) }

func (flip) Complexity(in []byte) float64 { return float64(len(in)) }

func (flip) Mutate(r *teasel.Rand, dst, src []byte) []byte {
	out := append(dst[:0], src...)
	if len(out) > 0 {
		out[r.IntN(len(out))] = byte(r.Uint32())
	}
	return out
}

type raw struct{}

func (raw) Encode(in []byte) ([]byte, error) { return append([]byte(nil), in...), nil }

func (raw) Decode(data []byte) ([]byte, error) { return append([]byte(nil), data...), nil }

func mazeCampaign(seed uint64) teasel.Campaign[[]byte] {
	return teasel.Campaign[[]byte]{Target: maze{}, Mutator: flip{}, Codec: raw{}, Seeds: [][]byte{make([]byte, passages*doors)}, Seed: seed, Calibrate: 1, MinimizeRuns: -1, TrimRuns: -1,
		NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }}
}

func dial(t *testing.T, c fleet.Config) *fleet.Link {
	t.Helper()
	l, err := fleet.Dial(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func config(s *server.Server, machine string) fleet.Config {
	return fleet.Config{URL: s.ClientURL(), Campaign: "maze", Machine: machine}
}

// admin returns a connection with all rights.
func admin(t *testing.T, url string, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// until calls ok until it is true; how long that takes says nothing.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}
