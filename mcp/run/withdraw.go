package run

import "github.com/teaselfuzz/teasel/mcp/jsonrpc"

// withdraw takes back that answers are due to the requests which a message takes back: none may come.
func (k *talk) withdraw(m *jsonrpc.Message) {
	for _, id := range m.Withdrawn() {
		for i := range k.t.Sent {
			s := &k.t.Sent[i]
			if s.Answer >= 0 || !s.Message.Root.Get("id").Equal(id) { // as a string it is another id
				continue
			}
			if s.Withdrawn = true; !s.Regular {
				continue
			}
			s.Regular = false
			k.owed--
			if n, _ := id.Int(); k.server.flights[n].talk == k && k.server.flights[n].awaited {
				f := k.server.flights[n]
				f.awaited = false
				k.server.flights[n] = f
				k.open--
			}
		}
	}
}
