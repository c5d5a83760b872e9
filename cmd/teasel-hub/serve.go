package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/internal/loopback"
)

// options are the flags.
type options struct {
	dir, listen, cert, key, maxStore string
}

const startTime = 20 * time.Second

// serve runs the hub until ctx ends.
func serve(ctx context.Context, o *options, stderr io.Writer) error {
	config, users, err := configure(o)
	if err != nil {
		return err
	}
	lock, err := acquire(o.dir)
	if err != nil {
		return err
	}
	defer lock.Close() // after the server has ended
	if config.Port != server.RANDOM_PORT {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen) // the server would go on trying
		if err != nil {
			return usage("choose another address with --listen", "%w", err)
		}
		l.Close()
	}
	s, err := server.NewServer(config)
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	s.SetLogger(&logger{w: stderr}, false, false)
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(startTime) {
		return usage("is another program listening there?", "not ready at %s after %v", o.listen, startTime)
	}
	if err := users.prepare(ctx, s, config); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "teasel-hub: listening at %s, storing in %s; machines take part with --hub %s\n", s.Addr(), o.dir, address(s, config))
	<-ctx.Done()
	return nil
}

// acquire locks the hub's directory: two servers would write into each other's files. The lock goes with the process.
func acquire(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, usage("choose another directory with --dir", "%w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, usage("choose another directory with --dir", "%w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, usage("end that one, or choose another directory with --dir", "another hub is using %s", dir)
		}
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return f, nil
}

func address(s *server.Server, config *server.Options) string {
	scheme := "nats"
	if config.TLSConfig != nil {
		scheme = "tls"
	}
	host, port, err := net.SplitHostPort(s.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			host = "HOST"
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// configure returns how the server runs, and the users it knows.
func configure(o *options) (*server.Options, *users, error) {
	host, portText, err := net.SplitHostPort(o.listen)
	port, portErr := strconv.Atoi(portText)
	if err != nil || portErr != nil || port < 0 || port > 65535 {
		return nil, nil, usage("for example --listen 127.0.0.1:4222", "--listen %q: expected an address and a port", o.listen)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	store, err := parseSize(o.maxStore)
	if err != nil {
		return nil, nil, err
	}
	c := &server.Options{Host: host, Port: port, JetStream: true, StoreDir: filepath.Join(o.dir, "store"), NoSigs: true, SyncAlways: true,
		MaxPayload: fleet.MaxMessage, JetStreamMaxStore: store, JetStreamMaxMemory: 256 << 20, MaxPending: 4 * fleet.MaxMessage, WriteDeadline: 10 * time.Second}
	if c.TLSConfig, err = o.tls(); err != nil {
		return nil, nil, err
	}
	c.TLS, c.TLSTimeout = c.TLSConfig != nil, 5
	u, err := readUsers(o.dir)
	if err != nil {
		return nil, nil, err
	}
	if !loopback.Host(host) && (len(u.Users) == 0 || c.TLSConfig == nil) {
		return nil, nil, usage("'teasel-hub init --host NAME --campaign NAME' makes both", "--listen %s: beyond this machine a hub needs TLS and credentials, or anybody could read and change the campaigns", o.listen)
	}
	for _, x := range u.Users {
		c.Nkeys = append(c.Nkeys, x.nkey())
	}
	if len(c.Nkeys) > 0 { // the hub itself makes the streams
		if u.self, err = nkeys.CreateUser(); err != nil {
			return nil, nil, err
		}
		public, err := u.self.PublicKey()
		if err != nil {
			return nil, nil, err
		}
		c.Nkeys = append(c.Nkeys, &server.NkeyUser{Nkey: public})
	}
	return c, u, nil
}

// tls returns the hub's certificate; nil: there is none.
func (o *options) tls() (*tls.Config, error) {
	cert, key := o.cert, o.key
	if cert == "" && key == "" {
		cert, key = filepath.Join(o.dir, "tls", "hub.pem"), filepath.Join(o.dir, "tls", "hub-key.pem")
		if _, err := os.Stat(cert); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	if cert == "" || key == "" {
		return nil, usage("", "--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usage("'teasel-hub init --host NAME' makes a certificate and its key", "reading the certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}, nil
}

func parseSize(text string) (int64, error) {
	number, unit := text, int64(1)
	for suffix, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = rest, size
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, usage("for example --max-store 20GiB", "--max-store %q: expected a number of bytes, or one of KiB, MiB, GiB or TiB", text)
	}
	return n * unit, nil
}

// prepare makes the streams of the campaigns that users are for.
func (u *users) prepare(ctx context.Context, s *server.Server, config *server.Options) error {
	if u.self == nil {
		return nil // the machines may make them
	}
	public, err := u.self.PublicKey()
	if err != nil {
		return err
	}
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Nkey(public, u.self.Sign), nats.Timeout(startTime))
	if err != nil {
		return fmt.Errorf("connecting to ourselves: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	names := u.campaigns()
	for _, name := range names {
		layout := fleet.Layout{MaxBytes: config.JetStreamMaxStore / 4 * 3 / int64(len(names))} // the rest is for findings
		if err := layout.Make(ctx, js, name); err != nil {
			return fmt.Errorf("campaign %s: %w", name, err)
		}
	}
	return nil
}
