package run

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// BenchmarkEcho runs prepared echo calls on server-everything. One operation is one request. own-µs is our own
// processor time for each.
func BenchmarkEcho(b *testing.B) {
	target := &Target{Command: server.Command{Args: realServer(b, "everything")}}
	ex, err := target.Open(b.Context(), teasel.Role{})
	if err != nil {
		b.Fatal(err)
	}
	defer ex.Close()
	batch := ex.(teasel.BatchExecutor[script.Script])
	ins := make([]script.Script, batch.BatchSize())
	obs := make([]teasel.Observation, len(ins))
	for i := range ins {
		ins[i] = script.Script{Start: script.Shared, Steps: []script.Step{{Line: fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"echo","arguments":{"message":"hello %d"}}}`, i)}}}
	}
	b.ReportAllocs()
	b.ResetTimer()
	cpu := ownTime(b)
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
	b.ReportMetric(float64(ownTime(b)-cpu)/float64(time.Microsecond)/float64(b.N), "own-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// ownTime returns the processor time that this process has used.
func ownTime(tb testing.TB) time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
