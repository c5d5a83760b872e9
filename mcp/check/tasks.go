package check

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// AsTask returns a call that is to go on as a task.
func AsTask(t *session.Operation) []byte {
	params := mutate.NewObject(jsonrpc.Member("name", mutate.NewString(t.Name)), jsonrpc.Member("arguments", t.Plain.Clone()))
	params.Set("task", mutate.NewRaw(`{"ttl":60000}`))
	return jsonrpc.RequestLine("tools/call", params)
}

// checkTasks has tools run as tasks, asks for them while they run and after, cancels them in both, and runs tools as tasks that are none,
// and the other way round.
func checkTasks(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if b.Session.Capabilities.Get("tasks") == nil || b.Session.Stateless {
		return
	}
	about := func(method string) script.Step {
		return script.Send(jsonrpc.RequestLine(method, mutate.NewObject(jsonrpc.Member("taskId", script.Placeholder(0, "/task/taskId")))))
	}
	get, result, cancel := about("tasks/get"), about("tasks/result"), about("tasks/cancel")
	for _, t := range b.Tools {
		run := script.Send(AsTask(t))
		switch support, _ := t.Root.Get("execution").Get("taskSupport").Str(); support {
		case "required":
			emit(t.Name+" without a task", script.NewShared(Tasks, script.Send(t.Call())))
			fallthrough
		case "optional":
			emit(t.Name+" to its end", script.NewShared(Tasks, run, get, result, get, cancel, get, result))
			emit(t.Name+" cancelled", script.NewShared(Tasks, run, cancel, get, cancel, get))
			emit(t.Name+" early", script.NewShared(Tasks, run, script.SendOn(result.Line), get, get))
		default:
			emit(t.Name+" as a task", script.NewShared(Tasks, run, get))
		}
	}
	var steps []script.Step
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		for _, id := range []string{ControlName + "a1", "", "__proto__", "../../etc/passwd"} {
			steps = append(steps, script.Send(jsonrpc.RequestLine(method, jsonrpc.Object("taskId", id))))
		}
	}
	emit("unknown tasks", script.NewShared(Tasks, append(steps, script.Send(jsonrpc.RequestLine("tasks/list", nil)))...))
}
