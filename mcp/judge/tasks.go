package judge

import (
	"fmt"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

const tasksSource = basicSource + "tasks"

var taskRules = []teasel.Rule{
	{ID: RuleTaskStatus, Severity: teasel.Medium, Title: "Task changes its status as it may not",
		Help:   "A task began with another status than working, or left one that is final: completed, failed or cancelled.\n\nClients stop asking when a task is over, and never hear of what comes after.\n\nBegin with working, and never change a final status.",
		Source: tasksSource + "#task-status-lifecycle"},
	{ID: RuleTaskResult, Severity: teasel.Medium, Title: "Result of a task comes before the task is over",
		Help:   "tasks/result was answered with a result while the task went on.\n\nThe client takes for the result what is not.\n\nAnswer when the task is completed, failed or cancelled.",
		Source: tasksSource + "#result-retrieval"},
	{ID: RuleTaskCancel, Severity: teasel.Low, Title: "Task that is over is cancelled",
		Help:   "tasks/cancel was answered with a result although the task had a final status.\n\nThe client believes that it has stopped what was done already.\n\nAnswer -32602.",
		Source: tasksSource + "#task-cancellation"},
	{ID: RuleTaskTimes, Severity: teasel.Low, Title: "Task has a time that is none",
		Help:   "createdAt or lastUpdatedAt of a task is no ISO 8601 time, or lastUpdatedAt lies before createdAt.\n\nClients cannot tell how long a task is kept.\n\nWrite times as 2026-01-31T12:00:00Z.",
		Source: tasksSource + "#ttl-and-resource-management"},
	{ID: RuleTaskSupport, Severity: teasel.Medium, Title: "Tool runs as a task, or without one, against its definition",
		Help:   "A tool that does not support tasks was run as one, or a tool that requires a task was run without.\n\nClients go by execution.taskSupport of tools/list.\n\nAnswer -32601.",
		Source: tasksSource + "#tool-level-negotiation"},
}

// isFinal reports whether a status is one that never changes.
func isFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// tasks follows the tasks of a transcript through what was said of them, in the order in which it came.
func (j *judge) tasks() {
	if !j.holds(RuleTaskStatus) {
		return
	}
	final := map[string]string{} // by id
	results := map[string]*script.Received{}
	for i := range j.t.Received {
		r := &j.t.Received[i]
		if r.Message.Method == "notifications/tasks/status" {
			j.taskStatus(r, r.Message.Params, final)
			continue
		}
		if r.Sent < 0 || r.Message.Result == nil {
			if r.Sent >= 0 && j.t.Sent[r.Sent].Answer == i {
				j.taskSupport(&j.t.Sent[r.Sent], r)
			}
			continue
		}
		s := &j.t.Sent[r.Sent]
		id, _ := s.Message.Params.Get("taskId").Str()
		if !s.Regular || s.Answer != i || s.Message.Twice || ambiguous(s.Message.Params) {
			continue
		}
		switch s.Message.Method {
		case "tools/call":
			j.taskSupport(s, r)
			if task := r.Message.Result.Get("task"); task != nil {
				status, _ := task.Get("status").Str()
				if status != "" && status != "working" {
					j.report(RuleTaskStatus, j.subject(s), "begin", fmt.Sprintf("A task began with the status %q; expected working: %s.", status, jsonrpc.Cut(r.Raw, 160)))
				}
				j.taskTimes(s, r, task)
				j.taskStatus(r, task, final)
			}
		case "tasks/get":
			j.taskTimes(s, r, r.Message.Result)
			j.taskStatus(r, r.Message.Result, final)
			if status, _ := r.Message.Result.Get("status").Str(); !isFinal(status) && results[id] != nil && results[id].At < s.At && status != "" {
				j.report(RuleTaskResult, "tasks/result", "", fmt.Sprintf("tasks/result was answered with %s, and then the task was still %s.", jsonrpc.Cut(results[id].Raw, 160), status))
			}
		case "tasks/result":
			results[id] = r
		case "tasks/cancel":
			if was := final[id]; was != "" && script.Succeeded(r) {
				j.report(RuleTaskCancel, "tasks/cancel", "", fmt.Sprintf("A task that was %s already was cancelled: %s; expected error -32602.", was, jsonrpc.Cut(r.Raw, 160)))
			}
			j.taskStatus(r, r.Message.Result, final)
		}
	}
}

// taskStatus notes the status of a task, and judges whether it may have it.
func (j *judge) taskStatus(r *script.Received, task *mutate.JSON, final map[string]string) {
	id, _ := task.Get("taskId").Str()
	status, ok := task.Get("status").Str()
	if id == "" || !ok {
		return
	}
	if was := final[id]; was != "" && status != was {
		j.report(RuleTaskStatus, "tasks/get", "final", fmt.Sprintf("A task that was %s became %s: %s.", was, jsonrpc.Cut(status, 40), jsonrpc.Cut(r.Raw, 160)))
	} else if isFinal(status) {
		final[id] = status
	}
}

// taskTimes judges the times of a task.
func (j *judge) taskTimes(s *script.Sent, r *script.Received, task *mutate.JSON) {
	created, isText := task.Get("createdAt").Str()
	if !isText { // the schema of the protocol says so
		return
	}
	began, err := time.Parse(time.RFC3339, created)
	updated, hasUpdate := task.Get("lastUpdatedAt").Str()
	changed, updateErr := time.Parse(time.RFC3339, updated)
	if err != nil || hasUpdate && (updateErr != nil || changed.Before(began)) {
		j.report(RuleTaskTimes, s.Message.Method, "", fmt.Sprintf("A task has createdAt %s and lastUpdatedAt %s: %s.", jsonrpc.Quote(created, 40), jsonrpc.Quote(updated, 40), jsonrpc.Cut(r.Raw, 160)))
	}
}

// taskSupport judges whether a tool was run as a task as its definition says.
func (j *judge) taskSupport(s *script.Sent, r *script.Received) {
	tool := j.session.Tool(session.CalledName(&s.Message))
	can := j.phase.capabilities.Get("tasks").Get("requests").Get("tools").Get("call") != nil
	if s.Message.Method != "tools/call" || !s.Regular || tool == nil || !can || !script.Succeeded(r) {
		return
	}
	support, _ := tool.Root.Get("execution").Get("taskSupport").Str()
	asTask := s.Message.Params.Get("task") != nil
	switch {
	case asTask && (support == "" || support == "forbidden") && r.Message.Result.Get("task") != nil:
		j.report(RuleTaskSupport, j.subject(s), "forbidden", fmt.Sprintf("%s, which does not support tasks, was run as one: %s; expected error -32601.", j.subject(s), jsonrpc.Cut(r.Raw, 160)))
	case !asTask && support == "required":
		j.report(RuleTaskSupport, j.subject(s), "required", fmt.Sprintf("%s, which requires a task, was run without: %s; expected error -32601.", j.subject(s), jsonrpc.Cut(r.Raw, 160)))
	}
}
