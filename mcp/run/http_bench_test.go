package run

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

const echoLine = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello %d"}}}`

// BenchmarkEchoHTTP runs prepared echo calls over HTTP on a server of the Go SDK and on server-everything, and has a bare client of net/http with as
// many connections make the same calls. One operation is one request; own-µs and server-µs are the processor time for each.
func BenchmarkEchoHTTP(b *testing.B) {
	gosdk := append(realServer(b, "gosdk"), "-http", "127.0.0.1:{port}")
	everything := realServer(b, "everything")
	everything[len(everything)-1] = "streamableHttp"
	for name, command := range map[string]server.Command{
		"gosdk JSON":   {Args: append(gosdk[:len(gosdk):len(gosdk)], "-json"), URL: "http://127.0.0.1:{port}/"},
		"gosdk events": {Args: gosdk, URL: "http://127.0.0.1:{port}/"},
		"everything":   {Args: everything, Env: []string{"PORT={port}"}, URL: "http://127.0.0.1:{port}/mcp", StartTimeout: time.Minute},
	} {
		b.Run(name+"/teasel", func(b *testing.B) { benchmarkTarget(b, &Target{Command: command, Spares: 1}) })
		b.Run(name+"/bare", func(b *testing.B) { benchmarkBare(b, command) })
	}
}

// BenchmarkLatency runs calls that take up to 20 ms and next to nothing of the processor: what counts is how many are in flight.
func BenchmarkLatency(b *testing.B) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.NewDecoder(r.Body).Decode(&m)
		result := `{}`
		switch m.Method {
		case "":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`
		case "tools/call":
			time.Sleep(rand.N(20 * time.Millisecond))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer web.Close()
	benchmarkTarget(b, &Target{Command: server.Command{URL: web.URL}})
}

func benchmarkTarget(b *testing.B, target *Target) {
	children := mcptest.ProcessorTime(b, syscall.RUSAGE_CHILDREN)
	ex, err := target.Open(b.Context(), teasel.Role{})
	if err != nil {
		b.Fatal(err)
	}
	batch := ex.(teasel.BatchExecutor[script.Script])
	ins := make([]script.Script, batch.BatchSize())
	obs := make([]teasel.Observation, len(ins))
	for i := range ins {
		ins[i] = lineScript(fmt.Sprintf(echoLine, `"@id"`, i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	cpu := mcptest.ProcessorTime(b, syscall.RUSAGE_SELF)
	for done := 0; done < b.N; {
		for i := range obs {
			obs[i] = teasel.Observation{Features: obs[i].Features[:0], Runs: 1}
		}
		n, err := batch.ExecBatch(b.Context(), ins, obs)
		if err != nil {
			b.Fatal(err)
		}
		for i := range obs[:n] {
			if obs[i].Exit != teasel.ExitOK || obs[i].Runs != 1 {
				b.Fatalf("ended as %v with %d runs: %s", obs[i].Exit, obs[i].Runs, obs[i].Detail)
			}
		}
		done += n
	}
	b.StopTimer()
	own := mcptest.ProcessorTime(b, syscall.RUSAGE_SELF) - cpu
	if err := ex.Close(); err != nil {
		b.Fatal(err)
	}
	report(b, own, mcptest.ProcessorTime(b, syscall.RUSAGE_CHILDREN)-children)
}

func report(b *testing.B, own, children time.Duration) {
	b.ReportMetric(float64(own)/float64(time.Microsecond)/float64(b.N), "own-µs/op")
	b.ReportMetric(float64(children)/float64(time.Microsecond)/float64(b.N), "server-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func benchmarkBare(b *testing.B, command server.Command) {
	port, err := proc.FreePort()
	if err != nil {
		b.Fatal(err)
	}
	children := mcptest.ProcessorTime(b, syscall.RUSAGE_CHILDREN)
	var words []string
	for _, w := range slices.Concat(command.Args, command.Env, []string{command.URL}) {
		words = append(words, strings.ReplaceAll(w, "{port}", strconv.Itoa(port)))
	}
	args, env, url := words[:len(command.Args)], words[len(command.Args):len(words)-1], words[len(words)-1]
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), env...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: defaultWindow}}
	var session string
	post := func(message string) error {
		r, err := http.NewRequestWithContext(b.Context(), "POST", url, strings.NewReader(message))
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if session == "" {
			session = res.Header.Get("Mcp-Session-Id")
		}
		_, err = io.ReadAll(res.Body)
		return err
	}
	for post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`) != nil {
		time.Sleep(20 * time.Millisecond)
	}
	if err := post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	cpu := mcptest.ProcessorTime(b, syscall.RUSAGE_SELF)
	var last atomic.Int64
	var all sync.WaitGroup
	for range defaultWindow {
		all.Go(func() {
			for {
				n := last.Add(1)
				if n > int64(b.N) {
					return
				}
				if err := post(fmt.Sprintf(echoLine, strconv.FormatInt(n, 10), n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	own := mcptest.ProcessorTime(b, syscall.RUSAGE_SELF) - cpu
	cmd.Process.Kill()
	cmd.Wait()
	report(b, own, mcptest.ProcessorTime(b, syscall.RUSAGE_CHILDREN)-children)
}
