package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// portWord stands for a free port in -url, -env and the server's command, as it does for teasel.
const portWord = "{port}"

// bareHTTP starts the server and measures one client on it, with as many connections that are kept as requests in flight.
func bareHTTP(ctx context.Context, s settings) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	port, err := proc.FreePort()
	if err != nil {
		return sample{}, err
	}
	fill := func(text string) string { return strings.ReplaceAll(text, portWord, strconv.Itoa(port)) }
	args := make([]string, len(s.server))
	for i := range args {
		args[i] = fill(s.server[i])
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), fill(s.env))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed: its status says nothing
	}()
	c := &httpClient{url: fill(s.url), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: s.window}, Timeout: 30 * time.Second}}
	if err := c.open(ctx); err != nil {
		return sample{}, fmt.Errorf("opening the session: %w", err)
	}
	if _, err := c.spin(ctx, s, warmUp); err != nil {
		return sample{}, err
	}
	start := time.Now()
	n, err := c.spin(ctx, s, s.duration)
	return sample{rate: float64(n) / time.Since(start).Seconds()}, err
}

type httpClient struct {
	url     string
	http    *http.Client
	session string
	last    atomic.Int64
}

// open opens the session, as soon as the server listens.
func (c *httpClient) open(ctx context.Context) error {
	var err error
	for range 300 {
		if err = c.post(ctx, initialize); err == nil {
			return c.post(ctx, initialized)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// post sends one message and reads what comes of it.
func (c *httpClient) post(ctx context.Context, message string) error {
	r, err := http.NewRequestWithContext(ctx, "POST", c.url, strings.NewReader(message))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if c.session == "" {
		c.session = res.Header.Get("Mcp-Session-Id")
	}
	body, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode >= 300 || bytes.Contains(body, []byte(`"error":`))) {
		err = fmt.Errorf("status %d: %.200s", res.StatusCode, body)
	}
	return err
}

// spin keeps the requests in flight for a while, and returns how many were answered.
func (c *httpClient) spin(ctx context.Context, s settings, d time.Duration) (int64, error) {
	name, err := json.Marshal(s.tool)
	if err != nil {
		return 0, err
	}
	var n atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, s.window)
	until := time.Now().Add(d)
	for i := range errs {
		all.Go(func() {
			for time.Now().Before(until) && errs[i] == nil {
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, c.last.Add(1), name, s.args)
				if errs[i] = c.post(ctx, message); errs[i] == nil {
					n.Add(1)
				}
			}
		})
	}
	all.Wait()
	return n.Load(), errors.Join(errs...)
}
