package mcp

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mutate"
)

// TestNumberAndItsText: ids that differ in type alone are two ids, in whatever order the answers come; where only one of
// them was used, an answer with the other is loose.
func TestNumberAndItsText(t *testing.T) {
	const number, text = `{"jsonrpc":"2.0","id":1000002,"method":"ping"}`, `{"jsonrpc":"2.0","id":"1000002","method":"ping"}`
	answer := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }
	for _, tt := range []struct {
		name           string
		sent, received []string
		want           []int // of each line that was sent: its answer
		loose          bool
	}{
		{"in order", []string{number, text}, []string{answer("1000002"), answer(`"1000002"`)}, []int{0, 1}, false},
		{"in reverse", []string{number, text}, []string{answer(`"1000002"`), answer("1000002")}, []int{1, 0}, false},
		{"turned into a text", []string{number}, []string{answer(`"1000002"`)}, []int{0}, true},
		{"turned into a number", []string{text}, []string{answer("1000002")}, []int{0}, true},
	} {
		l := &lane{reader: new(mutate.JSONParser), group: &group{}}
		e := &executor{reader: new(mutate.JSONParser)}
		r := &round{alone: l, server: &server{ids: 1000002, flights: map[int64]flight{}}}
		for i, line := range tt.sent {
			l.t.Sent = append(l.t.Sent, Sent{Raw: []byte(line), Message: ParseMessage([]byte(line)), Regular: line == number, Answer: -1})
			if line == number {
				r.server.flights[1000002] = flight{lane: l, sent: i}
			}
		}
		for _, line := range tt.received {
			e.receive(r, []byte(line), time.Now())
		}
		for i, want := range tt.want {
			if got := l.t.Sent[i].Answer; got != want {
				t.Errorf("%s: %s is answered by %d, want %d", tt.name, tt.sent[i], got, want)
			} else if l.t.Received[got].Loose != tt.loose {
				t.Errorf("%s: the answer to %s is loose: %v", tt.name, tt.sent[i], !tt.loose)
			}
		}
	}
}
