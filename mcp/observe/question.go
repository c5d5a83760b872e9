package observe

import (
	"slices"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Question is what a server asked of the client while a script ran.
type Question struct {
	Method string
	Form   string `json:",omitempty"` // the schema of the answer, as JSON; "": there is none, or it is long
}

// Bounds of the questions in a note.
const (
	maxQuestions = 8
	maxForm      = 4 << 10
)

// questions notes what the server asked, each once, in order of arrival.
func (n *Note) questions(t *script.Transcript) {
	for i := range t.Received {
		switch m := &t.Received[i].Message; {
		case m.Class == jsonrpc.ClassRequest && m.Method != "ping":
			n.question(m.Method, m.Params)
		case m.Result != nil:
			wanted := m.Result.Get("inputRequests")
			if !session.AsksForInput(m.Result) {
				continue
			}
			if wanted != nil {
				for _, w := range wanted.Members {
					method, _ := w.Value.Get("method").Str()
					n.question(method, w.Value.Get("params"))
				}
			}
			n.question(session.InputRequired, nil)
		}
	}
}

func (n *Note) question(method string, params *mutate.JSON) {
	q := Question{Method: method}
	if form := params.Get("requestedSchema"); form != nil {
		if text := form.String(); len(text) <= maxForm {
			q.Form = text
		}
	}
	if method != "" && len(n.Asked) < maxQuestions && !slices.Contains(n.Asked, q) {
		n.Asked = append(n.Asked, q)
	}
}
