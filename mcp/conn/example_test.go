package conn_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
)

func ExampleEndedError() {
	err := conn.EndedError([]string{"server"}, script.End{Kind: script.EndExited, Code: 2}, "initialize")
	fmt.Println(err.What)
	// Output: exited with status 2 before it had answered initialize
}
