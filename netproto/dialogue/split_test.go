package dialogue

import (
	"bytes"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// lines is a protocol of short lines in both directions.
func lines(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.Parse([]byte(`teasel-model: 1
messages:
  number: {seq: [{id: n, type: dec, terminator: "\n"}]}
  line: {seq: [{id: text, type: str, terminator: "\n"}]}
responses:
  code: {seq: [{id: n, type: dec, terminator: "\n"}]}
  reply: {seq: [{id: text, type: str, terminator: "\n"}]}
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A message of a stream takes no memory for what stands behind it.
func TestSplitTakesTheMemoryOfTheStream(t *testing.T) {
	stream := bytes.Repeat([]byte("abc\n"), 1<<12)
	d := Split(lines(t), stream)
	room := 0
	for i := range d.Messages {
		room += cap(d.Messages[i].Data)
	}
	if len(d.Messages) != 1<<12 || d.Messages[0].Name != "line" || room > 4*len(stream) {
		t.Errorf("%d bytes are %d messages of room for %d bytes", len(stream), len(d.Messages), room)
	}
}

// Taking one response out of a stream copies that response only, however many are behind it.
func TestFrameCopiesOneResponse(t *testing.T) {
	s := NewSession(lines(t))
	if n, complete := s.Frame(bytes.Repeat([]byte("abc\n"), 1<<12), false); n != 4 || !complete {
		t.Fatalf("the first response has %d bytes, complete: %v", n, complete)
	}
	if room := cap(s.answer.Data); room > 64 {
		t.Errorf("the response of 4 bytes has room for %d", room)
	}
}

func BenchmarkFrame(b *testing.B) {
	s := NewSession(lines(b))
	data := bytes.Repeat([]byte("abc\n"), 1<<17)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for rest := data; len(rest) > 0; {
			n, _ := s.Frame(rest, false)
			s.Receive(-1, rest[:n])
			rest = rest[n:]
		}
	}
}
