package model_test

import (
	"fmt"
	"os"

	"github.com/teaselfuzz/teasel/netproto/model"
)

func Example() {
	const greeter = `
teasel-model: 1
meta: {id: greeter, endian: be}
messages:
  hello:
    seq:
      - {id: length, type: u2}
      - {id: name, type: str, size: length}
`
	m, err := model.Parse([]byte(greeter), "greeter.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	var t model.Tree
	if err := m.Message("hello").Parse(&t, []byte("\x00\x06teasel")); err != nil {
		fmt.Println(err)
		return
	}
	t.Replace(t.Child(0, "name"), []byte("a longer name"))
	t.Derive(nil) // the length follows
	t.Describe(os.Stdout, "")
	// Output:
	//      0  length = 13, derived
	//      2  name = "a longer name"
}
