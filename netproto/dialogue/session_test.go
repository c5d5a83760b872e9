package dialogue

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

const storeModel = `teasel-model: 1
meta: {id: store}
connection: {transport: tcp}
types:
  line:
    seq: [{id: text, type: str, terminator: "\n"}]
messages:
  set: {type: line, when: text == "set", fields: {text: set}}
  get: {type: line, when: text != "set", fields: {text: get k}}
responses:
  value: {seq: [{id: text, type: str, terminator: "\n", valid: VALUE}]}
  refusal: {seq: [{id: text, type: str, terminator: "\n", valid: {any-of: [ERROR, STORED]}}]}
states:
  start:
    - {send: set, expect: refusal, to: stored}
  stored:
    - {send: get, expect: value}
seeds:
  all: [{message: set}, {message: get}]
`

// What a response has to be is certain only while every message was sent as a seed has it and its answer was waited for.
func TestDoubtfulResponses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.yaml")
	if err := os.WriteFile(file, []byte(storeModel), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		change   func(d *Dialogue)
		response string // to the second message; "": none
		doubtful bool
	}{
		{"unchanged", func(*Dialogue) {}, "ERROR\n", false},
		{"unchanged, no response", func(*Dialogue) {}, "", false},
		{"changed", func(d *Dialogue) { d.Messages[1].Data[0] = 'G' }, "ERROR\n", true},
		{"changed, no response", func(d *Dialogue) { d.Messages[1].Data[5] = ' ' }, "", true},
		{"the message before changed", func(d *Dialogue) { d.Messages[0].Data[0] = 'S' }, "ERROR\n", true},
		{"answer of the message before not waited for", func(d *Dialogue) { d.Messages[0].NoWait = true }, "STORED\n", true},
		{"none of the model's responses", func(d *Dialogue) { d.Messages[1].Data[0] = 'G' }, "what?\n", false},
	} {
		d := Seeds(m)[0]
		tt.change(d)
		s := NewSession(m)
		s.Begin(d)
		s.Render(0)
		s.Receive(0, []byte("STORED\n"))
		s.Render(1)
		var r Response
		if tt.response == "" {
			r = s.Silent(1)
		} else {
			r = s.Receive(1, []byte(tt.response))
		}
		if r.Expected || r.Problem == "" || r.Doubtful != tt.doubtful {
			t.Errorf("%s: %+v, want a problem, doubtful: %v", tt.name, r, tt.doubtful)
		}
	}
	s := NewSession(m)
	s.Begin(Seeds(m)[0])
	s.Render(0)
	s.Receive(0, []byte("STORED\n"))
	if r := s.Receive(0, []byte("STORED\n")); r.Problem != "" && !r.Doubtful {
		t.Errorf("the second response to one message: %+v, want none that is certain", r)
	}
}
