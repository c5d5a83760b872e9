package run

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/server"
)

// BenchmarkEcho runs prepared echo calls on server-everything. One operation is one request. own-µs is our own
// processor time for each, server-µs the server's.
func BenchmarkEcho(b *testing.B) {
	benchmarkTarget(b, &Target{Command: server.Command{Args: realServer(b, "everything")}})
}
