package script_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/script"
)

func ExampleCodec() {
	in := script.Script{Start: script.Shared, Steps: []script.Step{
		{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"ping"}`)},
		{Line: []byte(`{bad`), NoWait: true},
	}}
	data, err := script.Codec{}.Encode(in)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(string(data))
	// Output:
	// {"teasel-script":1,"start":"shared","steps":[
	// {"send":{"jsonrpc":"2.0","id":"@id","method":"ping"}},
	// {"text":"{bad","nowait":true}]}
}
