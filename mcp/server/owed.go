package server

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// maxOwed bounds the ids that are remembered of one server.
const maxOwed = 4096

// Owed counts the requests with ids of the scripts' own that a server has not answered, by id. Scripts use the same ids again:
// an answer that comes late may then be taken for one to a later request.
type Owed map[string]int

// owedKey is the same for all ids that a careless server may take for one another.
func owedKey(id string) string {
	text, ok := jsonrpc.IDText(id)
	if !ok {
		return id
	}
	if text = strings.TrimSpace(text); text != "" {
		if f, ok := jsonrpc.FloatOf(text); ok {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	return text
}

// Take notes a request that is sent, and reports whether an earlier one with that id is still to be answered.
func (o Owed) Take(id string) (again bool) {
	key := owedKey(id)
	if again = o[key] > 0; len(o) < maxOwed || again {
		o[key]++
	}
	return again
}

// Free notes an answer, and reports whether one with that id was still to come.
func (o Owed) Free(id string) bool {
	key := owedKey(id)
	n := o[key]
	if n <= 1 {
		delete(o, key)
	} else {
		o[key]--
	}
	return n > 0
}
