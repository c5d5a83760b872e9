package mcp

import "fmt"

func ExampleCodec() {
	in := Script{Start: Shared, Steps: []Step{
		{Line: []byte(`{"jsonrpc":"2.0","id":"@id","method":"ping"}`)},
		{Line: []byte(`{bad`), NoWait: true},
	}}
	data, err := Codec{}.Encode(in)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(string(data))
	// Output:
	// {"teasel-script":1,"start":"shared","steps":[
	// {"send":{"jsonrpc":"2.0","id":"@id","method":"ping"}},
	// {"text":"{bad","nowait":true}]}
}
