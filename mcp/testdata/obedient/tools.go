package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

func tools() []tool {
	return []tool{
		{name: "echo", description: "Returns the text.", call: func(_ *server, _ json.RawMessage, a arguments) (string, bool) { return a.Text, false }},
		{name: "hold", description: "Is answered when release is called with the same key. Others are served meanwhile.", call: func(s *server, id json.RawMessage, a arguments) (string, bool) {
			s.held[a.Key] = append(s.held[a.Key], id)
			return "", true
		}},
		{name: "release", description: "Has the calls of hold with the key answered, before it is itself.", call: func(s *server, _ json.RawMessage, a arguments) (string, bool) {
			for _, id := range s.held[a.Key] {
				s.say(id, "released")
			}
			delete(s.held, a.Key)
			return a.Key, false
		}},
		{name: "sleep", description: "Is answered after some milliseconds, 200 by default. Others are served meanwhile.", call: func(s *server, id json.RawMessage, a arguments) (string, bool) {
			s.sayLater(id, a.MS, "slept")
			return "", true
		}},
		{name: "ask", description: "Asks the client for a sample, and is answered after some milliseconds, 200 by default, whatever that says.", call: func(s *server, id json.RawMessage, a arguments) (string, bool) {
			s.put(map[string]any{"jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage", "params": map[string]any{"messages": []any{}, "maxTokens": 1}})
			s.sayLater(id, a.MS, "asked")
			return "", true
		}},
		{name: "work", description: "Uses the processor for some milliseconds and is answered then. Nobody is served meanwhile.", call: func(_ *server, _ json.RawMessage, a arguments) (string, bool) {
			work(time.Duration(min(max(a.MS, 0), 1000)) * time.Millisecond)
			return "worked", false
		}},
		{name: "never", description: "Is never answered. Others are served.", call: func(*server, json.RawMessage, arguments) (string, bool) { return "", true }},
		{name: "deadlock", description: "Is never answered, since the one goroutine that serves waits for itself.", call: func(s *server, _ json.RawMessage, _ arguments) (string, bool) {
			s.mu.Lock()
			s.mu.Lock()
			return "", true
		}},
		{name: "poll", description: "Is never answered, since the one goroutine that serves asks again and again for a lock that it holds.", call: func(s *server, _ json.RawMessage, _ arguments) (string, bool) {
			for s.mu.Lock(); !s.mu.TryLock(); {
				time.Sleep(20 * time.Millisecond)
			}
			return "", true
		}},
		{name: "run_program", description: "Is answered when a program has ended that computes for ever. Nobody is served meanwhile.", call: func(*server, json.RawMessage, arguments) (string, bool) {
			said, err := exec.Command("sh", "-c", "while :; do :; done").Output()
			return fmt.Sprint(said, err), false
		}},
		{name: "spin", description: "Is never answered, since the one goroutine that serves computes for ever.", call: func(*server, json.RawMessage, arguments) (string, bool) {
			for {
			}
		}},
		{name: "spin_apart", description: "Is never answered, since it computes for ever. Others are served.", call: func(*server, json.RawMessage, arguments) (string, bool) {
			go func() {
				for {
				}
			}()
			return "", true
		}},
		{name: "die", description: "Ends the server with status 9 before it is answered.", call: func(*server, json.RawMessage, arguments) (string, bool) { os.Exit(9); return "", true }},
		{name: "die_later", description: "Is answered, and ends the server with status 9 some milliseconds later, 50 by default.", call: func(s *server, id json.RawMessage, a arguments) (string, bool) {
			s.say(id, "later")
			d := 50 * time.Millisecond
			if a.MS > 0 && a.MS <= 1000 {
				d = time.Duration(a.MS) * time.Millisecond
			}
			time.AfterFunc(d, func() { os.Exit(9) })
			return "", true
		}},
		{name: "trace", description: "Writes a stack trace to standard error, and is answered.", call: func(*server, json.RawMessage, arguments) (string, bool) {
			fmt.Fprintln(os.Stderr, "panic: recovered\n\ngoroutine 1 [running]:")
			return "traced", false
		}},
		{name: "flood", description: "Sends without end what the text names: answers, progress or noise. It is answered first only if that is answers.", call: flood},
		{name: "close_output", description: "Closes the standard output and reads on.", call: func(*server, json.RawMessage, arguments) (string, bool) { os.Stdout.Close(); return "", true }},
		{name: "stop_reading", description: "Is answered, after which nothing is read any more.", call: func(s *server, id json.RawMessage, _ arguments) (string, bool) {
			s.say(id, "stopped")
			time.Sleep(lifetime)
			return "", true
		}},
	}
}

// work uses a processor for so long, however long that takes.
func work(d time.Duration) {
	used := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for from := used(); used()-from < d; {
	}
}

func flood(s *server, id json.RawMessage, a arguments) (string, bool) {
	line := map[string]string{
		"answers":  `{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[]}}`,
		"progress": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(id) + `,"progress":1}}`,
		"noise":    "this is no message",
	}[a.Text]
	for line != "" {
		s.write(line)
	}
	return "no such flood", false
}
