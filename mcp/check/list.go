package check

import (
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// pages is how many pages of one list are asked for at most.
const pages = 6

func checkPagination(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	EachList(b, func(method string) {
		steps := []script.Step{script.Send(jsonrpc.RequestLine(method, nil))}
		for i := range pages - 1 {
			steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(script.Placeholder(i, "/nextCursor")))))
		}
		emit(method, script.NewShared(Pagination, steps...))
	})
}

// OddCursors are texts of cursors that no server gave out.
var OddCursors = []string{
	`""`, `"` + ControlName + `a1"`, `"-1"`, `"0"`, `"1"`, `"999999999"`, `"null"`, `"undefined"`, `"NaN"`, `"../.."`, `"\u0000"`,
	`"ü💥"`, `"` + session.Base64("-1") + `"`, `"` + session.Base64("999999999") + `"`, `"` + session.Base64(`{"offset":-1}`) + `"`, `"` + session.Base64("teasel") + `"`,
	`"__proto__"`, `"'"`, `5`, `-1`, `1.5`, `null`, `true`, `{}`, `[]`, `[""]`, `{"a":"b"}`,
}

func checkCursor(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	EachList(b, func(method string) {
		var steps []script.Step
		for _, cursor := range OddCursors {
			steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(mutate.NewRaw(cursor)))))
		}
		steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(mutate.NewString(script.LongText(4096))))))
		Chunks(steps, chunk, func(part int, steps []script.Step) {
			emit(method+" "+strconv.Itoa(part), script.NewShared(Cursor, steps...))
		})
	})
}

// plainParams are parameters for the methods that need some, whatever the server has.
var plainParams = map[string]string{
	"tools/call": `{"name":"a","arguments":{}}`, "resources/read": `{"uri":"file:///a"}`, "prompts/get": `{"name":"a"}`,
	"resources/subscribe": `{"uri":"file:///a"}`, "resources/unsubscribe": `{"uri":"file:///a"}`,
	"completion/complete": `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""}}`,
	"logging/setLevel":    `{"level":"emergency"}`, "tasks/get": `{"taskId":"a"}`, "tasks/result": `{"taskId":"a"}`, "tasks/cancel": `{"taskId":"a"}`,
}

func checkUndeclared(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	var steps []script.Step
	for _, m := range session.Methods {
		declared := session.CapabilityOf(m) == "" || b.Session.Has(session.CapabilityOf(m))
		if m == "resources/subscribe" || m == "resources/unsubscribe" {
			subscribe := b.Session.Capabilities.Get("resources").Get("subscribe")
			declared = subscribe != nil && subscribe.Text == "true"
		}
		// The first version had no word for completions.
		if declared || m == "completion/complete" && b.Session.Version == session.Versions[0] {
			continue
		}
		line := jsonrpc.RequestLine(m, nil)
		if p, ok := plainParams[m]; ok {
			line = jsonrpc.RequestLine(m, mutate.NewRaw(p))
		}
		steps = append(steps, script.Send(line))
	}
	if len(steps) > 0 {
		emit("methods", script.NewShared(Undeclared, steps...))
	}
}

// allPages returns the requests for all pages of a list, or for as many as are worth it. Its first step will be the given one
// of a script; asked again, they are the same lines, with the cursors of the first time.
func allPages(b *session.Catalog, method string, first int) []script.Step {
	steps := []script.Step{script.Send(jsonrpc.RequestLine(method, nil))}
	for i := 1; i < min(b.Session.Pages[method], pages); i++ {
		steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(script.Placeholder(first+i-1, "/nextCursor")))))
	}
	return steps
}
