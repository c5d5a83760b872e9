package conn_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// A connection with cat, which answers a message with the same.
func ExampleNewStdio() {
	theirIn, stdin, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	stdout, theirOut, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cat := &exec.Cmd{Path: "/bin/cat", Args: []string{"cat"}, Stdin: theirIn, Stdout: theirOut}
	if err := cat.Start(); err != nil {
		panic(err)
	}
	theirIn.Close()
	theirOut.Close()
	c, err := conn.NewStdio(stdin, stdout, func() bool { return true })
	if err != nil {
		panic(err)
	}
	defer c.Close()
	ctx := context.Background()
	c.Send(conn.Message{Body: []byte(`{"jsonrpc":"2.0",`), More: true})
	c.Send(conn.Message{Body: []byte(`"method":"ping"}`)})
	if err := c.Flush(ctx, time.Second); err != nil {
		panic(err)
	}
	frames, err := c.Recv(ctx, time.Now().Add(time.Minute), nil)
	fmt.Printf("%s %v\n", frames[0].Body, err)
	if err := c.CloseSend(); err != nil {
		panic(err)
	}
	_, err = c.Recv(ctx, time.Now().Add(time.Minute), nil)
	fmt.Println(err == io.EOF, cat.Wait())
	// Output:
	// {"jsonrpc":"2.0","method":"ping"} <nil>
	// true <nil>
}
