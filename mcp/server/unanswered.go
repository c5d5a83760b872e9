package server

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// Bounds of the ids that are remembered of one server.
const (
	maxUnanswered    = 4096
	maxUnansweredKey = 256 // bytes of one; longer ones that begin with the same are taken for one another
)

// Unanswered counts the requests with ids of the scripts' own that a server has not answered, by id. Scripts use the same ids again:
// an answer that comes late may then be taken for one to a later request.
type Unanswered map[string]int

// unansweredKey is the same for all ids that a careless server may take for one another.
func unansweredKey(id string) string {
	id = id[:min(len(id), maxUnansweredKey)]
	text, ok := jsonrpc.IDText(id)
	if !ok {
		return id
	}
	if text = strings.TrimSpace(text); text != "" {
		if f, ok := jsonrpc.FloatOf(text); ok {
			if f == 0 {
				f = 0 // "-0" is the same
			}
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return text
}

// Take notes a request that is sent, and reports whether an earlier one with that id is still to be answered.
func (o Unanswered) Take(id string) (again bool) {
	key := unansweredKey(id)
	if again = o[key] > 0; again {
		o[key]++
	} else if len(o) < maxUnanswered {
		o[strings.Clone(key)] = 1 // not a part of the line, which may be long
	}
	return again
}

// Free notes an answer, and reports whether one with that id was still to come.
func (o Unanswered) Free(id string) bool {
	key := unansweredKey(id)
	n := o[key]
	if n <= 1 {
		delete(o, key)
	} else {
		o[key]--
	}
	return n > 0
}
