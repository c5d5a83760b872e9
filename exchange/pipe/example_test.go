package pipe_test

import (
	"context"
	"fmt"
	"net"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
)

// A parent serves one worker, which here is a goroutine.
func Example() {
	ctx := context.Background()
	worker, parent := net.Pipe()
	done := make(chan error)
	go func() {
		x, err := pipe.Dial(ctx, worker, pipe.Config{})
		if err == nil {
			_, err = x.Sync(ctx, teasel.News{Executions: 100, Leaving: true})
			x.Close()
		}
		done <- err
	}()
	h := &teasel.Hub{}
	err := pipe.Serve(ctx, parent, h.Join(), pipe.Config{})
	fmt.Println(<-done, err, h.Summary().Executions)
	// Output: <nil> <nil> 100
}
