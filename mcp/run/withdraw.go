package run

import "github.com/teaselfuzz/teasel/mcp/jsonrpc"

// withdraw takes back that answers are due to the requests which a message takes back: none may come. The request can be
// another script's, if a mutated number hits it.
func (e *executor) withdraw(r *round, l *lane, m *jsonrpc.Message) {
	for _, id := range m.Withdrawn() {
		for i := range l.t.Sent {
			if s := &l.t.Sent[i]; s.Answer < 0 && s.Message.Root.Get("id").Equal(id) { // as a string it is another id
				s.Withdrawn = true
			}
		}
		n, ok := id.Int()
		f, flying := r.server.flights[n]
		if !ok || !flying || f.lane == nil || f.answered || f.sent < 0 || !f.lane.t.Sent[f.sent].Regular {
			continue
		}
		f.lane.letGo(f.sent)
		if f.blocking && f.lane.group != nil {
			f.lane.group.open--
		}
		f.blocking = false
		r.server.flights[n] = f
		if f.lane.parked {
			e.returned(f.lane)
		}
	}
}

// letGo marks a request of the script as one to which no answer is due any more.
func (l *lane) letGo(sent int) {
	s := &l.t.Sent[sent]
	s.Regular, s.Withdrawn = false, true
	l.owed--
	l.cancels = true
}
