package main

import (
	"math"
	"strings"
)

func textTools() []tool {
	return []tool{
		{
			name: "echo", title: "Echo", hints: readsOnly,
			description: "Returns the message.",
			input:       `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false}`,
			call:        func(_ *session, a args) answer { return say(a.str("message")) },
		},
		{
			name: "add", title: "Add", hints: readsOnly,
			description: "Adds two numbers.",
			input:       `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`,
			output:      `{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"],"additionalProperties":false}`,
			call:        (*session).add,
		},
		{
			name: "truncate_text", title: "Truncate text", hints: readsOnly,
			description: "Cuts a text to at most max characters.",
			input: `{"type":"object","properties":{"text":{"type":"string"},"max":{"type":"integer","minimum":0,"maximum":1000}},` +
				`"required":["text","max"],"additionalProperties":false}`,
			call: (*session).truncateText,
		},
		{
			name: "render_message", title: "Render message", hints: readsOnly,
			description: "Fills the name into a template where it says {{name}}.",
			input: `{"type":"object","properties":{"template":{"type":"string","maxLength":2000,"examples":["Hello {{name}}!"]},` +
				`"name":{"type":"string","maxLength":200}},"required":["template"],"additionalProperties":false}`,
			call: (*session).renderMessage,
		},
		{
			name: "label_report", title: "Label report", hints: readsOnly,
			description: "Returns the label under which a report is filed.",
			input:       `{"type":"object","properties":{"label":{"type":"string","maxLength":200,"examples":["march"]}},"required":["label"],"additionalProperties":false}`,
			call:        (*session).labelReport,
		},
		{
			name: "parse_date", title: "Parse date", hints: readsOnly,
			description: "Takes a date of the form YYYY-MM-DD apart.",
			input:       `{"type":"object","properties":{"date":{"type":"string","maxLength":100,"examples":["2025-11-25"]}},"required":["date"],"additionalProperties":false}`,
			call:        (*session).parseDate,
		},
		{
			name: "set_title", title: "Set title", hints: sameAgain,
			description: "Sets the warehouse's title, which app://title shows.",
			input:       `{"type":"object","properties":{"title":{"type":"string","maxLength":256}},"required":["title"],"additionalProperties":false}`,
			call:        (*session).setTitle,
		},
		{
			name: "define_word", title: "Define word", hints: readsOnly,
			description: "Looks a word up.",
			input:       `{"type":"object","properties":{"word":{"type":"string","minLength":1,"maxLength":64}},"required":["word"],"additionalProperties":false}`,
			call:        (*session).defineWord,
		},
	}
}

func (s *session) add(a args) answer {
	sum := a.float("a") + a.float("b")
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return refuse("The sum is out of range.")
	}
	return structure(object("sum", sum))
}

func (s *session) truncateText(a args) answer {
	if s.has("invalid-utf8") {
		return say(cutBytes(a.str("text"), a.int("max")))
	}
	return say(prefix(a.str("text"), a.int("max")))
}

func (s *session) renderMessage(a args) answer {
	text := strings.ReplaceAll(a.str("template"), "{{name}}", a.str("name"))
	if s.has("template-injection") {
		text = evaluateTemplate(text)
	}
	return say(text)
}

func (s *session) labelReport(a args) answer {
	label := a.str("label")
	if s.has("shell-injection") {
		return labelByShell(label)
	}
	return say("report-" + label)
}

func (s *session) parseDate(a args) answer {
	date := a.str("date")
	if s.has("stack-trace-in-error") {
		if trace := parseDateCarelessly(date); trace != "" {
			return refuse("Internal error while parsing the date: " + trace)
		}
	}
	if len(date) != 10 || date[4] != '-' || date[7] != '-' || strings.Trim(date[:4]+date[5:7]+date[8:], "0123456789") != "" {
		return refuse("The date must have the form YYYY-MM-DD.")
	}
	return say("year " + date[:4] + ", month " + date[5:7] + ", day " + date[8:])
}

func (s *session) setTitle(a args) answer {
	title := a.str("title")
	if s.has("crash-at-length-256") {
		closeTitle(title)
	}
	s.store.title = title
	s.updated("app://title")
	return say("The title is set.")
}

func (s *session) defineWord(a args) answer {
	if s.has("memory-leak") {
		s.traces.remember()
	}
	return say("No definition of " + brief(a.str("word")) + " was found.")
}
