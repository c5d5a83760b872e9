package run

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
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
		e, s, k := newExecutor(&Target{}, nil), newPeer(&server.Server{IDs: 1000002, Unanswered: server.Unanswered{}}), new(talk)
		s.alone, k.server = k, s
		for i, line := range tt.sent {
			k.t.Sent = append(k.t.Sent, script.Sent{Raw: []byte(line), Message: jsonrpc.Parse([]byte(line)), Regular: line == number, Answer: -1})
			if line == number {
				s.flights[1000002] = &flight{talk: k, sent: i}
			}
		}
		for _, line := range tt.received {
			e.dispatch(s, []byte(line))
		}
		for i, want := range tt.want {
			if got := k.t.Sent[i].Answer; got != want {
				t.Errorf("%s: %s is answered by %d, want %d", tt.name, tt.sent[i], got, want)
			} else if k.t.Received[got].Loose != tt.loose {
				t.Errorf("%s: the answer to %s is loose: %v", tt.name, tt.sent[i], !tt.loose)
			}
		}
	}
}

// TestLateToSomebodyElse: an answer to what nobody waits for any more says nothing about the script that has the server
// now, in whatever type its id comes back.
func TestLateToSomebodyElse(t *testing.T) {
	for _, tt := range []struct {
		id    string
		heard int
	}{
		{`1000001`, 0}, {`"1000001"`, 0}, {`" 1000001.0 "`, 0},
		{`"teasel"`, 1}, {`"999"`, 1}, {`1000003`, 1},
		{`1000002`, 1}, {`"1000002"`, 1},
	} {
		e, s, k := newExecutor(&Target{}, nil), newPeer(&server.Server{IDs: 1000002, Unanswered: server.Unanswered{}}), new(talk)
		s.alone, k.server = k, s
		k.t.Sent = []script.Sent{{Message: jsonrpc.Parse([]byte(`{"jsonrpc":"1.0","id":1000002,"method":"ping"}`)), Answer: -1}}
		e.dispatch(s, []byte(`{"jsonrpc":"2.0","id":`+tt.id+`,"result":{}}`))
		if len(k.t.Received) != tt.heard {
			t.Errorf("an answer with id %s: the script has heard %d lines, want %d", tt.id, len(k.t.Received), tt.heard)
		}
	}
}

// TestAnswerAfterMuch: of very much progress only the first is kept, but the answer is.
func TestAnswerAfterMuch(t *testing.T) {
	e, s, k := newExecutor(&Target{}, nil), newPeer(&server.Server{IDs: 1000002, Unanswered: server.Unanswered{}}), &talk{counts: counts{open: 1, unanswered: 1}}
	s.alone, k.server = k, s
	k.t.Sent = []script.Sent{{Message: jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1000002,"method":"ping"}`)), Regular: true, Answer: -1}}
	s.flights[1000002] = &flight{talk: k, awaited: true}
	for range 5000 {
		e.dispatch(s, []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1000002,"progress":1}}`))
	}
	if len(k.t.Received) == 5000 || s.unrequested > maxUnrequested {
		t.Errorf("%d lines were kept, and %d bytes are too much", len(k.t.Received), s.unrequested)
	}
	for range 2 {
		e.dispatch(s, []byte(`{"jsonrpc":"2.0","id":1000002,"result":{}}`))
	}
	if i := k.t.Sent[0].Answer; i != len(k.t.Received)-1 || k.t.Received[i].Message.Result == nil || k.open != 0 {
		t.Errorf("it is answered by line %d of %d", i, len(k.t.Received))
	}
}

// Of lines that are repeated very often only the first are kept. Answers to the others are no second ones to these.
func TestRepeatedBeyondWhatIsKept(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: []string{"python3", "-c", optionalServer}, StartTimeout: time.Minute, Timeout: 10 * time.Second}})
	in := lineScript(ping, `{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	in.Steps[0].Times, in.Steps[1].Times = maxKept, 8
	if _, obs := execute(t, e, in); len(told(&obs, judge.RuleDuplicateReply)) > 0 {
		t.Error("a request that was sent eight times was answered twice")
	}
}
