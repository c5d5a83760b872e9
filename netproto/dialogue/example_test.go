package dialogue_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// A session knows what to send after what the server has answered.
func ExampleSession() {
	const chat = `
teasel-model: 1
messages:
  talk:
    seq:
      - {id: session, type: str, terminator: "\n", value: none, derive: {from: session}}
responses:
  welcome:
    capture: {session: id}
    seq:
      - {id: id, type: str, terminator: "\n"}
seeds:
  one: ["none\n"]
`
	m, err := model.Parse([]byte(chat), "chat.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := dialogue.NewSession(m)
	s.Begin(dialogue.Seeds(m)[0])
	fmt.Printf("%q\n", s.Render(0))
	n, complete := s.Frame([]byte("s42\nmore"), false)
	fmt.Println(n, complete)
	r := s.Receive(-1, []byte("s42\n"))
	fmt.Println(r.Name, r.Expected)
	fmt.Printf("%q\n", s.Render(0))
	// Output:
	// "none\n"
	// 4 true
	// welcome true
	// "s42\n"
}
