package dialogue

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// The first pass writes numbers in text that are longer than the seed's.
func TestLongNumbers(t *testing.T) {
	m, err := model.Parse([]byte(`teasel-model: 1
messages:
  m:
    seq:
      - {id: part, type: dec}
      - contents: ","
      - {id: other, type: dec}
      - contents: ";"
seeds:
  one: ["7,12;"]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	mutator := &Mutator{Model: m}
	for k := range mutator.FirstPassSize() {
		if d, _ := mutator.FirstPass(k); len(d.Messages) > 0 {
			sent = append(sent, string(d.Messages[0].Data))
		}
	}
	for _, want := range []string{"9,12;", "2147483647,12;", "4294967296,12;", "-2147483648,12;", "18446744073709551616,12;", "7,99;"} {
		if !slices.Contains(sent, want) {
			t.Errorf("it has no %q: %q", want, sent)
		}
	}
}

// Each field is empty, or its length lies by one, in a message that is as the seed has it otherwise.
func TestEmptyFieldsAndLyingLengths(t *testing.T) {
	m, err := model.Parse([]byte(`teasel-model: 1
messages:
  m:
    seq:
      - {id: length, type: u1}
      - {id: name, type: str, size: length}
      - {id: value, type: str, size-eos: true}
seeds:
  one: ["\x03key=1"]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	mutator := &Mutator{Model: m}
	for k := range mutator.FirstPassSize() {
		if d, _ := mutator.FirstPass(k); len(d.Messages) == 1 {
			sent = append(sent, string(d.Messages[0].Data))
		}
	}
	for _, want := range []string{"\x00=1", "\x03key", "\x02key=1", "\x04key=1"} {
		if !slices.Contains(sent, want) {
			t.Errorf("it has no %q: %q", want, sent)
		}
	}
}

// So it does where the model has a number as text, and not where the text is a word.
func TestLongNumbersInText(t *testing.T) {
	m, err := model.Parse([]byte(`teasel-model: 1
messages:
  m:
    seq:
      - {id: argument, type: str, terminator: "\n"}
seeds:
  one: ["7\n"]
  two: ["seven\n"]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	times, mutator := 0, &Mutator{Model: m}
	for k := range mutator.FirstPassSize() {
		if d, _ := mutator.FirstPass(k); len(d.Messages) == 1 && string(d.Messages[0].Data) == "4294967296\n" {
			times++
		}
	}
	if times != 1 {
		t.Errorf("it has the number beyond 32 bits %d times, want once", times)
	}
}
