package run_test

import (
	"context"
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/server"
)

func ExampleTarget_Discover() {
	target := run.Target{Command: server.Command{Args: []string{"false"}}}
	_, err := target.Discover(context.Background())
	fmt.Println(err != nil)
	// Output: true
}
