package jsonrpc

import "github.com/teaselfuzz/teasel/mutate"

// CancelMethod is the notification that takes a request back.
const CancelMethod = "notifications/cancelled"

// Withdrawn returns the ids of the requests that a message takes back in the eyes of any reader: of members that stand
// twice some servers take the first and most the last, and some read the notifications in an array.
func (m *Message) Withdrawn() (ids []*mutate.JSON) {
	if m.Root == nil || m.Method != CancelMethod && !m.Twice && m.Class != ClassBatch {
		return nil
	}
	if m.Root.Kind != mutate.Array {
		return withdrawnIn(m.Root, nil)
	}
	for _, item := range m.Root.Items {
		ids = withdrawnIn(item, ids)
	}
	return ids
}

func withdrawnIn(v *mutate.JSON, ids []*mutate.JSON) []*mutate.JSON {
	if v == nil {
		return ids
	}
	cancels, before := false, len(ids)
	for _, m := range v.Members {
		switch {
		case m.Value == nil:
		case m.Name == "method":
			method, _ := m.Value.Str()
			cancels = cancels || method == CancelMethod
		case m.Name == "params":
			for _, p := range m.Value.Members {
				if p.Name == "requestId" && p.Value != nil {
					ids = append(ids, p.Value)
				}
			}
		}
	}
	if !cancels {
		return ids[:before]
	}
	return ids
}
