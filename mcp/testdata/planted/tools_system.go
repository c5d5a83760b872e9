package main

import (
	"os"
	"strconv"
	"time"
)

// destroyedEnv names a file that is written when a destructive tool is called: a fuzzer's tests see that it never is.
const destroyedEnv = "TEASEL_DESTROYED"

func systemTools() []tool {
	const nothing = `{"type":"object","additionalProperties":false}`
	return []tool{
		{
			name: "run_report", title: "Run report", hints: readsOnly,
			description: "Runs a report in steps, each after a delay. It tells its progress and can be cancelled.",
			input: `{"type":"object","properties":{"steps":{"type":"integer","minimum":1,"maximum":10},` +
				`"delay_ms":{"type":"integer","minimum":0,"maximum":50}},"required":["steps"],"additionalProperties":false}`,
			launch: (*session).runReport,
		},
		{
			name: "toggle_feature", title: "Toggle feature", hints: sameAgain,
			description: "Switches an experimental feature on or off.",
			input: `{"type":"object","properties":{"feature":{"type":"string","enum":["dark_mode","barcode","voice"]},"enabled":{"type":"boolean"}},` +
				`"required":["feature","enabled"],"additionalProperties":false}`,
			call: (*session).toggleFeature,
		},
		{
			name: "show_counter", title: "Show counter", hints: readsOnly,
			description: "Shows how many visitors were counted.", input: nothing,
			call: func(s *session, _ args) answer { return say("Visitors: " + strconv.Itoa(s.store.counter) + ".") },
		},
		{
			name: "bump_counter", title: "Bump counter", hints: addsOnly,
			description: "Counts one visitor.", input: nothing,
			call: func(s *session, _ args) answer {
				s.store.counter = min(s.store.counter+1, counterLimit)
				return say("One more visitor.")
			},
		},
		{
			name: "peek_counter", title: "Peek at the counter", hints: readsOnly,
			description: "Says whether any visitor was counted.", input: nothing,
			call: (*session).peekCounter,
		},
		{
			name: "delete_everything", title: "Delete everything", hints: mayDestroy,
			description: "Empties the warehouse.", input: nothing,
			call: func(*session, args) answer { return destroyed("delete_everything") },
		},
		{
			name: "wipe_cache", title: "Wipe cache",
			description: "Forgets what was cached.", input: nothing,
			call: func(*session, args) answer { return destroyed("wipe_cache") },
		},
	}
}

func (s *session) peekCounter(args) answer {
	visited := s.store.counter > 0
	if s.has("read-only-lie") {
		countThePeek(&s.store)
	}
	if visited {
		return say("There were visitors.")
	}
	return say("Nobody was here.")
}

func (s *session) toggleFeature(a args) answer {
	if s.has("undeclared-notification") && a.bool("enabled") {
		s.notify("notifications/tools/list_changed", nil)
	}
	state := "off"
	if a.bool("enabled") {
		state = "on"
	}
	return say("The feature " + a.str("feature") + " is " + state + ".")
}

func destroyed(tool string) answer {
	if path := os.Getenv(destroyedEnv); path != "" {
		if err := os.WriteFile(path, []byte(tool+"\n"), 0o600); err != nil {
			return refuse("The marker could not be written: " + err.Error())
		}
	}
	return say("Done.")
}

// runReport works in a goroutine, so that other requests are served meanwhile and it can be cancelled.
func (s *session) runReport(r *request, a args) (raw, *failure) {
	l := s.flights.take(r)
	if l == nil {
		return refuse("Too many reports are running.").encode(s), nil
	}
	steps, delay := a.int("steps"), time.Duration(a.int("delay_ms"))*time.Millisecond
	done := say("The report has " + plural(steps, "step") + ".").encode(s)
	go func() {
		for i := range steps {
			if delay > 0 {
				select {
				case <-l.stop:
					return
				case <-time.After(delay):
				}
			}
			if !s.flights.still(l, func() { s.progress(r, i+1, steps) }) {
				return
			}
		}
		s.flights.land(l, func() { s.replyReport(r, done, steps) })
	}()
	return nil, nil
}

func (s *session) replyReport(r *request, done raw, steps int) {
	answered := *r
	if s.has("id-as-string") {
		answered.id = idAsString(r.id)
	}
	s.reply(&answered, done, nil)
	if s.has("progress-after-reply") {
		s.progress(r, steps+1, steps+1)
	}
}
