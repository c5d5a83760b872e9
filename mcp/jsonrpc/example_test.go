package jsonrpc_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

func ExampleParse() {
	m := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`))
	fmt.Println(m.Method, m.ID, m.Why)
	// Output: ping 1.5 the id is a fraction
}
