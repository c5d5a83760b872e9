package judge

import (
	"regexp"
	"strconv"
)

// ShallowStack is how large goroutines' stacks may become, in bytes, where an input need not have all that plain go test gives it. A
// recursion without end takes seconds until it has the gigabyte that the runtime allows, for copying the stack and for walking it, and a
// thirtieth of that until it has so much.
const ShallowStack = 16 << 20

var stackLimit = regexp.MustCompile(`(?m)^runtime: goroutine stack exceeds (\d+)-byte limit$`)

// StackLimit returns how large a goroutine's stack would have had to become, in bytes, when the runtime ended a process for that; 0: it did
// not.
func StackLimit(text string) (size uint64) {
	if e, ok := ending(text); !ok || e.kind != "fatal error" {
		return 0
	}
	if m := stackLimit.FindStringSubmatch(text); m != nil {
		size, _ = strconv.ParseUint(m[1], 10, 64)
	}
	return size
}

// overflow judges a stack that was used up: the functions that call each other for ever are the fault, wherever among
// them it ended. frames are what is known if no goroutine has a function that calls itself.
func overflow(text string, frames []Frame) verdict {
	v := verdict{rule: ruleStack, message: "stack overflow"}
	most := 1
	for _, g := range Goroutines(text) {
		fs := userFrames(g.Frames)
		count := map[string]int{}
		deepest := 0
		for _, f := range fs {
			name := plainName(f.Function)
			count[name]++
			deepest = max(deepest, count[name])
		}
		if deepest <= most {
			continue
		}
		most, frames, v.subject = deepest, fs, ""
		for name, n := range count {
			if n > 1 && (v.subject == "" || name < v.subject) { // the same one whatever the order
				v.subject, v.group = name, name
			}
		}
	}
	if v.subject == "" {
		return named(ruleStack, v.message, frames)
	}
	v.frames = frames
	v.message += " in " + v.subject
	return v
}
