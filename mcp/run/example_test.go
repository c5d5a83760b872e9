package run_test

import (
	"context"
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/run"
)

func ExampleTarget_Discover() {
	target := run.Target{Command: []string{"false"}}
	_, err := target.Discover(context.Background())
	fmt.Println(err != nil)
	// Output: true
}
