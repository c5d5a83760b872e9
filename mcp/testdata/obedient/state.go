package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stateTools die of what was called before them, in other requests of the same process. With the argument "clean" none does.
func stateTools() []tool {
	return slices.Concat(lamp(), journal(), valves(), gate())
}

// fail ends the server as an uncaught exception would, unless it is the clean one.
func fail(what string) (string, bool) {
	if slices.Contains(os.Args, "clean") {
		return "ok", false
	}
	panic(what)
}

func choice(name string, values ...string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string","enum":["%s"]}},"required":[%q]}`, name, strings.Join(values, `","`), name)
}

const nothing = `{"type":"object"}`

// lamp burns out after five presses in order.
func lamp() []tool {
	order, at := []string{"red", "blue", "red", "green", "blue"}, 0
	return []tool{{name: "press", description: "Presses one button of the lamp.", schema: choice("button", "red", "green", "blue"),
		call: func(_ *server, _ json.RawMessage, a arguments) (string, bool) {
			switch {
			case !slices.Contains(order, a.Button):
				return "There is no such button.", false
			case a.Button == order[at]:
				at++
			case a.Button == order[0]:
				at = 1
			default:
				at = 0
			}
			if at == len(order) {
				at = 0
				return fail("the lamp has burnt out")
			}
			return "ok", false
		}}}
}

// journal keeps its state in a file alone, which each process has for itself. It cannot be replayed with more removed than was added.
func journal() []tool {
	file := ""
	return []tool{
		{name: "note", description: "Writes a line to the journal.", schema: choice("kind", "add", "remove"), call: func(_ *server, _ json.RawMessage, a arguments) (string, bool) {
			if a.Kind != "add" && a.Kind != "remove" {
				return "There is no such kind.", false
			}
			if file == "" {
				dir, err := os.MkdirTemp("", "teasel-journal-")
				if err != nil {
					return err.Error(), false
				}
				file = filepath.Join(dir, "journal")
			}
			data, err := os.ReadFile(file)
			if err != nil && !os.IsNotExist(err) {
				return err.Error(), false
			}
			if err := os.WriteFile(file, append(data, a.Kind+"\n"...), 0o600); err != nil {
				return err.Error(), false
			}
			return "written", false
		}},
		{name: "rotate", description: "Replays the journal and begins a new one.", schema: nothing, call: func(*server, json.RawMessage, arguments) (string, bool) {
			if file == "" {
				return "empty", false
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return "empty", false
			}
			n := strings.Count(string(data), "add") - strings.Count(string(data), "remove")
			if err := os.Remove(file); err != nil {
				return err.Error(), false
			}
			if n <= -2 {
				return fail("the journal removes more than there is")
			}
			return "replayed", false
		}},
	}
}

// valves burst when three tools are called one after the other.
func valves() []tool {
	at := 0
	step := func(n int) func(*server, json.RawMessage, arguments) (string, bool) {
		return func(*server, json.RawMessage, arguments) (string, bool) {
			if at++; at != n {
				if at = 0; n == 1 {
					at = 1
				}
			}
			if at == 3 {
				at = 0
				return fail("the valves burst")
			}
			return "ok", false
		}
	}
	return []tool{
		{name: "fill_tank", description: "Fills the tank.", schema: nothing, call: step(1)},
		{name: "heat_tank", description: "Heats the tank.", schema: nothing, call: step(2)},
		{name: "seal_tank", description: "Seals the tank.", schema: nothing, call: step(3)},
	}
}

// gate has calls wait for ever that come when it is shut. Others are served.
func gate() []tool {
	shut := false
	return []tool{
		{name: "shut_gate", description: "Shuts the gate.", schema: nothing, call: func(*server, json.RawMessage, arguments) (string, bool) {
			shut = !slices.Contains(os.Args, "clean")
			return "shut", false
		}},
		{name: "pass_gate", description: "Passes the gate.", schema: nothing, call: func(*server, json.RawMessage, arguments) (string, bool) { return "passed", shut }},
	}
}
