package model

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever stands in a model's file, loading it gives a model or says what is wrong, and what is loaded can be used.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob("../../examples/net/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no examples: %v", err)
	}
	for _, p := range paths {
		src, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(field(`{id: a, type: u1, derive: {length: _after}}`, `{id: b, size: a * 2 + 1, repeat: eos}`)))
	f.Add([]byte("teasel-model: 1\nmessages:\n  m:\n    seq: [{id: x, type: u1}, {id: y, type: u1, if: a == 1}]\n    instances: {a: {value: x + 1}}\nseeds: {s: [{hex: \"0000\"}]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<14 {
			return
		}
		m, err := Parse(src, "m.yaml")
		if err != nil {
			return
		}
		var tree, scratch Tree
		var late Late
		data := []byte("\x00\x01\x02abc\r\n 12 GET /\xff\xfe\x00\x00\x00\x04")
		m.Framing.Length(data)
		for _, kind := range append(m.Messages, m.Responses...) {
			for _, d := range [][]byte{nil, data} {
				if found, _, _ := first([]*Message{kind}, &tree, d, true); found != nil {
					use(&tree, &scratch, &late)
				}
			}
			if kind.Build(&tree) == nil {
				use(&tree, &scratch, &late)
			}
		}
		for i := range m.Seeds {
			for j := range m.Seeds[i].Messages {
				tree.CopyFrom(&m.Seeds[i].Messages[j].Tree)
				use(&tree, &scratch, &late)
			}
		}
		if r, _, _ := m.Answer(&tree, data, false); r != nil {
			r.CodeOf(&tree)
			late.Take(r, &tree)
		}
	})
}

// use does with a message what the fuzzer does with it.
func use(t, scratch *Tree, late *Late) {
	t.Derive(late)
	t.Serialize(nil)
	t.AppendLayout(nil)
	t.Describe(io.Discard, "")
	if len(t.Nodes) > 64 {
		return
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		if v, ok := t.Number(i); ok && t.Leaf(i) {
			t.SetNumber(i, v+1)
		}
		for _, f := range t.Absent(i, nil) {
			t.Add(i, f, scratch)
		}
	}
	t.Derive(late)
}
