package dialogue

import (
	"slices"
	"testing"
)

// Texts of lines are dialogues of lines; what has a header of lines, bytes or one line is not.
func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"USER a\r\nPASS b\r\nQUIT\r\n":   {"USER a\r\n", "PASS b\r\n", "QUIT\r\n"},
		"one\ntwo":                       {"one\n", "two"},
		"one\n":                          nil,
		"":                               nil,
		"GET / HTTP/1.0\r\nA: b\r\n\r\n": nil,
		"one\ntwo\x01\n":                 nil,
		"one\n\xff\n":                    nil,
	} {
		var got []string
		if d := Lines([]byte(text)); d != nil {
			for _, m := range d.Messages {
				got = append(got, string(m.Data))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Without a model, the messages of seeds are put into other dialogues, each kind of them first.
func TestMessagesOfSeeds(t *testing.T) {
	m := &Mutator{Seeds: []*Dialogue{Lines([]byte("USER a\nUSER b\nQUIT\n")), Raw([]byte("STAT\nHELP\n")), Raw([]byte("STAT\n"))}}
	m.prepare()
	var got []string
	for _, s := range m.samples {
		got = append(got, string(s.Messages[0].Data))
	}
	if want := []string{"USER a\n", "QUIT\n", "STAT\n", "USER b\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	sent := map[string]bool{}
	text := func(d *Dialogue) (s string) {
		for _, msg := range d.Messages {
			s += string(msg.Data)
		}
		return s
	}
	for k := range m.FirstPassSize() {
		d, _ := m.FirstPass(k)
		sent[text(d)] = true
	}
	for _, want := range []string{"STAT\nQUIT\n", "USER a\nSTAT\n", "USER a\nUSER b\nSTAT\n"} {
		if !sent[want] {
			t.Errorf("the first pass does not send %q", want)
		}
	}
	r := random(1)
	for range 100 {
		if d := m.Generate(r); len(d.Messages) == 0 {
			t.Fatal("an empty dialogue was generated")
		}
	}
}
