package model

import (
	"bytes"
	"path/filepath"
	"testing"
)

// modelsOf loads the models of the examples.
func modelsOf(t testing.TB) map[string]*Model {
	t.Helper()
	files, err := filepath.Glob("../../examples/net/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example models: %v", err)
	}
	all := map[string]*Model{}
	for _, file := range files {
		m, err := Load(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all[m.ID] = m
	}
	return all
}

// Every message of every seed is what its fields say it is: derived fields computed anew change nothing, and the values
// written anew give the same bytes.
func TestSeedsOfExamplesRoundTrip(t *testing.T) {
	for id, m := range modelsOf(t) {
		if len(m.Seeds) == 0 {
			t.Errorf("%s: no seeds", id)
		}
		for _, s := range m.Seeds {
			for i, msg := range s.Messages {
				if msg.Message == nil {
					continue
				}
				var tree Tree
				if err := msg.Message.Parse(&tree, msg.Tree.Data); err != nil {
					t.Errorf("%s: %s[%d]: %v", id, s.Name, i, err)
					continue
				}
				if tree.Derive(nil); !bytes.Equal(tree.Data, msg.Tree.Data) {
					t.Errorf("%s: %s[%d]: derived fields computed anew give\n%q, the seed is\n%q", id, s.Name, i, tree.Data, msg.Tree.Data)
				}
				if out := tree.Serialize(nil); !bytes.Equal(out, msg.Tree.Data) {
					t.Errorf("%s: %s[%d]: written anew it is\n%q, the seed is\n%q", id, s.Name, i, out, msg.Tree.Data)
				}
			}
		}
	}
}

// A message that no seed has is sent with its default values, which have to make a message of its kind.
func TestDefaultValuesMakeMessages(t *testing.T) {
	for id, m := range modelsOf(t) {
		for _, kind := range m.Messages {
			s := m.Sample(kind.Name)
			if s == nil {
				t.Errorf("%s: there is no sample of %s", id, kind.Name)
				continue
			}
			var tree Tree
			if err := kind.Parse(&tree, s.Tree.Data); err != nil {
				t.Errorf("%s: %v in %q", id, err, s.Tree.Data)
			}
			if err := kind.Build(&tree); err != nil {
				t.Errorf("%s: %v", id, err)
			} else if built := string(tree.Data); kind.Parse(&tree, []byte(built)) != nil {
				t.Errorf("%s: the default values of %s do not make one: %q", id, kind.Name, built)
			}
		}
	}
}

// A response is complete when all of its bytes are there, wherever a stream cuts it, and what follows is left alone.
func TestAnswerIsWhole(t *testing.T) {
	const head = "HTTP/1.1 206 Partial Content\r\nServer: s\r\n"
	for _, test := range []struct{ model, answer, response string }{
		{"modbus", "\x00\x01\x00\x00\x00\x04\x01\x01\x01\x00", ""}, // to read_coils: the last field fills what is of known size
		{"http", head + "Content-Length: 5\r\nETag: a\r\n\r\n1\n\r\n2", "with_body"},
		{"http", head + "Content-Length: 0\r\n\r\n", "with_body"},
		{"http", head + "Transfer-Encoding: chunked\r\nETag: a\r\n\r\n2\r\n12\r\n0\r\n\r\n", "in_chunks"},
		{"http", head + "\r\n", "without_body"},
	} {
		m := modelsOf(t)[test.model]
		for n := range len(test.answer) + 1 {
			var tree Tree
			found, size, short := m.Answer(&tree, []byte(test.answer[:n]), true)
			whole := n == len(test.answer)
			if (found != nil) != whole || whole && size != n || !whole && !short {
				t.Errorf("%d bytes of %q: %v of %d bytes, more may make it fit: %v", n, test.answer, found != nil, size, short)
			}
			if whole && test.response != "" && found != nil && found.Name != test.response {
				t.Errorf("%q is %s, expected %s", test.answer, found.Name, test.response)
			}
		}
	}
}

// What is there only where bytes follow is left out of a message for which it has no value, and is there where it has one.
func TestBuildEndsWhereNothingIsGiven(t *testing.T) {
	m := modelsOf(t)["coap"]
	for _, s := range m.Seeds {
		for i, msg := range s.Messages {
			payload := s.Name == "put" || s.Name == "post"
			if marker := bytes.IndexByte(msg.Tree.Data, 0xff) >= 0; marker != payload {
				t.Errorf("%s[%d] has a payload: %v\n%q", s.Name, i, marker, msg.Tree.Data)
			}
		}
	}
}
