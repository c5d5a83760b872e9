package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/fleet"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, usersName), []byte(`{"version":1,"users":[{"key":"x","campaign":"a","name":"b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "beyond this machine a hub needs TLS and credentials"},
		{"--listen :0", "beyond this machine"},
		{"--listen here", "expected an address and a port"},
		{"--max-store much", "expected a number of bytes"},
		{"--tls-cert x", "go together"},
		{"--tls-cert x --tls-key y", "reading the certificate"},
		{"--dir " + damaged, "expected the public key of a user"},
		{"init", "--campaign"},
		{"init --host a --machines 2", "--campaign"},
		{"init --campaign a.b", "letters, digits"},
		{"init --campaign a --machines 0", "expected 1 to 10000"},
	} {
		var stderr bytes.Buffer
		args := append([]string{"--dir", dir}, strings.Fields(c.args)...)
		if strings.HasPrefix(c.args, "init") {
			args = append(strings.Fields(c.args), "--dir", dir)
		}
		if status := run(t.Context(), args, &stderr, &stderr); status != statusUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: status %d, %s", c.args, status, &stderr)
		}
	}
}

// A hub whose directory another hub has, or whose address is taken, says so at once, and stores nothing.
func TestTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var first buffer
	ended := make(chan int)
	go func() { ended <- run(ctx, []string{"--dir", dir, "--listen", "127.0.0.1:0"}, &first, &first) }()
	defer func() { stop(); <-ended }()
	match := regexp.MustCompile(`listening at (\S+),`)
	for deadline := time.Now().Add(time.Minute); !match.MatchString(first.String()) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	m := match.FindStringSubmatch(first.String())
	if m == nil {
		t.Fatal(first.String())
	}
	for _, c := range []struct{ dir, listen, want string }{
		{dir, "127.0.0.1:0", "another hub is using " + dir},
		{t.TempDir(), m[1], "in use"},
	} {
		var out buffer
		limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if status := run(limited, []string{"--dir", c.dir, "--listen", c.listen}, &out, &out); status != statusUsage || !strings.Contains(out.String(), c.want) || limited.Err() != nil {
			t.Errorf("--dir %s --listen %s: status %d, %s", c.dir, c.listen, status, out.String())
		}
		cancel()
	}
}

// The certificate can be made without adding machines, and one that is there is left alone, with words that say what to do.
func TestInitCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out bytes.Buffer
	if status := run(t.Context(), []string{"init", "--host", "127.0.0.1", "--dir", dir}, &out, &out); status != statusOK {
		t.Fatalf("status %d, %s", status, &out)
	}
	if _, err := os.Stat(filepath.Join(dir, usersName)); err == nil {
		t.Error("users were made")
	}
	before, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	status := run(t.Context(), []string{"init", "--host", "localhost", "--campaign", "a", "--dir", dir}, &out, &out)
	if after, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem")); status != statusUsage || err != nil || !bytes.Equal(before, after) {
		t.Errorf("status %d, %v, %s", status, err, &out)
	}
	if !strings.Contains(out.String(), "has a certificate already") || !strings.Contains(out.String(), "new ca.pem") {
		t.Error(&out)
	}
}

// buffer is written by one goroutine and read by another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A hub with the credentials and the certificate that init makes takes a machine that has its own, and refuses others.
func TestInitAndServe(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	var out bytes.Buffer
	for _, args := range []string{"init --host 127.0.0.1 --campaign parser --machines 2", "init --campaign other"} {
		if status := run(t.Context(), append(strings.Fields(args), "--dir", dir), &out, &out); status != statusOK {
			t.Fatalf("%s: status %d, %s", args, status, &out)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var stderr buffer
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"--dir", dir, "--listen", "127.0.0.1:0", "--max-store", "64MiB"}, &stderr, &stderr)
	}()
	url := ""
	for url == "" {
		select {
		case status := <-ended:
			t.Fatalf("it ended with status %d: %s", status, &stderr)
		case <-time.After(20 * time.Millisecond):
			url = regexp.MustCompile(`tls://[0-9.:]+`).FindString(stderr.String())
		}
	}
	link := func(file, campaign string) (*fleet.Link, error) {
		c, err := fleet.ReadCredentials(filepath.Join(dir, "credentials", file))
		if err != nil {
			t.Fatal(err)
		}
		return fleet.Dial(fleet.Config{URL: url, CA: filepath.Join(dir, "tls", "ca.pem"), Credentials: c, Campaign: campaign, Machine: c.Machine})
	}
	l, err := link("parser-m2.creds", "parser")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Streams(ctx); err != nil {
		t.Error(err)
	}
	if _, err := l.Push(ctx, &fleet.Entry{Key: "k"}); err != nil {
		t.Error(err)
	}
	wrong, err := link("other-m1.creds", "parser")
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	if _, err := wrong.Streams(ctx); err == nil {
		t.Error("credentials of another campaign are enough")
	}
	stop()
	if status := <-ended; status != statusOK {
		t.Errorf("status %d: %s", status, &stderr)
	}
}
