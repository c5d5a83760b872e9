package server_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/server"
)

func ExampleCommand_Visit() {
	c := server.Command{Args: []string{"teasel-no-such-server"}}
	_, err := c.Visit(context.Background())
	var start *server.StartError
	if errors.As(err, &start) {
		fmt.Println(start)
		fmt.Println(start.Hint)
	}
	// Output:
	// starting server "teasel-no-such-server": command not found: teasel-no-such-server
	// check the spelling, install it, or give its path
}
