package model

import (
	"strings"
	"testing"
)

const packetKSY = `meta:
  id: packet
  title: Packets
  endian: le
  license: CC0-1.0
doc: An example.
seq:
  - id: magic
    contents: [0x50, 0x4b]
  - id: kind
    type: u1
    enum: kinds
  - id: len_body
    type: u2
  - id: body
    size: len_body
    type:
      switch-on: kind
      cases:
        'kinds::text': text
        'kinds::number': u4
  - id: packed
    size: 4
    process: zlib
  - id: rows
    type: u1
  - id: cols
    type: u1
  - id: cells
    size: rows * cols
  - id: pick
    type: u1
    if: "kind == kinds::text ? true : false"
  - id: last
    type: u1
types:
  text:
    seq:
      - id: chars
        type: strz
        encoding: UTF-8
      - id: rest
        size-eos: true
    instances:
      length:
        value: chars.length
      elsewhere:
        pos: 4
        type: u1
enums:
  kinds:
    1: text
    2:
      id: number
      doc: of four bytes
`

func TestImportKSY(t *testing.T) {
	out, report, err := ImportKSY([]byte(packetKSY), "packet.ksy")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report, "\n")
	for _, want := range []string{
		"packet.ksy:22: packed becomes bytes: what it holds is encoded: process",
		"packet.ksy:29: cells keeps its length: the size rows * cols cannot be inverted",
		"packet.ksy:31: pick becomes bytes",
		"the fields behind it go into it",
		"packet.ksy:47: instance elsewhere is left out",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the report does not say %q:\n%s", want, all)
		}
	}
	m, err := Parse(out, "packet.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const packet = "PK\x01\x06\x00abc\x00de1234\x02\x01xy!!!"
	var tree Tree
	if err := m.Messages[0].Parse(&tree, []byte(packet)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	body := tree.Child(tree.Child(0, "body"), "chars")
	if body < 0 || string(tree.Bytes(body)) != "abc" {
		t.Errorf("the text is not found:\n%s", tree.AppendLayout(nil))
	}
	tree.Replace(body, []byte("longer"))
	if tree.Derive(nil); string(tree.Data[:5]) != "PK\x01\x09\x00" {
		t.Errorf("after a change the message begins with %q", tree.Data[:5])
	}
}

func TestImportKSYRefuses(t *testing.T) {
	for name, src := range map[string]string{"nothing": "", "no seq": "meta: {id: a}\n", "no YAML": "a: [", "no fields": "seq: [1]\n"} {
		if _, _, err := ImportKSY([]byte(src), "a.ksy"); err == nil || !strings.Contains(err.Error(), "a.ksy") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
