package judge

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Frame is one call on a goroutine's stack.
type Frame struct {
	Function string // with its package's path, without arguments
	File     string
	Line     int
}

// Goroutine is one of those that the runtime has printed.
type Goroutine struct {
	State  string // for example running, or chan receive; how long it has been in it is left out
	Frames []Frame
}

// Goroutines reads the stacks in what the runtime, or debug.Stack, has printed.
func Goroutines(text string) (gs []Goroutine) {
	var function string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(trimmed, "goroutine ") && strings.HasSuffix(trimmed, ":"):
			_, state, _ := strings.Cut(trimmed, "[")
			state, _, _ = strings.Cut(state, "]")
			state, _, _ = strings.Cut(state, ",")
			gs, function = append(gs, Goroutine{State: state}), ""
		case len(gs) == 0:
		case strings.HasPrefix(trimmed, "\t") && function != "":
			g := &gs[len(gs)-1]
			file, number := source(trimmed)
			g.Frames, function = append(g.Frames, Frame{function, file, number}), ""
		case strings.HasPrefix(trimmed, "created by "):
			function = "" // where it was started is not on its stack
		default:
			function = strings.ReplaceAll(called(trimmed), "%2e", ".") // as in gopkg.in/yaml%2ev3
		}
	}
	return gs
}

// called returns the function of a line such as "main.(*T).f(0x1, ...)".
func called(line string) string {
	if !strings.HasSuffix(line, ")") {
		return ""
	}
	depth := 0
	for i := len(line) - 1; i >= 0; i-- {
		switch line[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return line[:i]
			}
		}
	}
	return ""
}

// source reads a line such as "\t/dir/file.go:12 +0x1d".
func source(line string) (file string, number int) {
	line = strings.TrimSpace(line)
	line, _, _ = strings.Cut(line, " +0x")
	i := strings.LastIndexByte(line, ':')
	if i < 0 {
		return line, 0
	}
	number, _ = strconv.Atoi(line[i+1:])
	return line[:i], number
}

// machinery are the packages whose functions are on every stack, whatever the fault.
var machinery = []string{"iter", "runtime", "runtime/debug", "runtime/internal", "internal", "testing", "reflect", "sync", "panic", "syscall", "os/signal", "time"}

// userFrames returns the frames that tell faults apart: those outside of the runtime and of package testing. Frames
// of the fuzz target's callers are left out.
func userFrames(frames []Frame) (out []Frame) {
	for i, f := range frames {
		switch {
		case isTyped(f.Function):
			if len(out) > 0 {
				return out
			}
		case f.Function == "testing.tRunner" || strings.HasPrefix(f.Function, "testing.(*F).Fuzz."):
			return out
		case strings.HasPrefix(f.Function, "internal/fuzz.") || f.Function == "reflect.Value.Call" || f.Function == "reflect.Value.call":
			if i > 0 && len(out) > 0 {
				return out
			}
		case !isMachinery(f.Function) && f.File != "_testmain.go":
			out = append(out, f)
		}
	}
	return out
}

// typedPackage is the package whose functions call typed fuzz tests.
const typedPackage = "github.com/teaselfuzz/teasel/gofunc"

// isTyped reports whether a function of that package stands between package testing, or the engine, and a typed test.
func isTyped(function string) bool {
	return strings.HasPrefix(function, typedPackage+".Test[") || strings.HasPrefix(function, typedPackage+".(*")
}

func isMachinery(function string) bool {
	pkg := packageOf(function)
	if pkg == typedPackage {
		return true
	}
	for _, m := range machinery {
		if pkg == m || strings.HasPrefix(pkg, m+"/") {
			return true
		}
	}
	return false
}

// packageOf returns the path of a function's package.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	if dot := strings.IndexByte(function[slash:], '.'); dot >= 0 {
		return function[:slash+dot]
	}
	return function
}

// standard reports whether a function is of the standard library, whose packages' paths have no dot in their first
// element, or is one that cgo has generated to call C. A module may be named so as well, which is why this is asked only to
// choose between frames.
func standard(f Frame) bool {
	if filepath.Base(f.File) == "_cgo_gotypes.go" {
		return true
	}
	first, _, _ := strings.Cut(packageOf(f.Function), "/")
	return !strings.Contains(first, ".") && (strings.Contains(f.File, "/src/"+packageOf(f.Function)+"/"))
}

// plainName is a function's name without what the compiler adds: numbers of closures and parameters of generics.
func plainName(function string) string {
	function = strings.ReplaceAll(function, "[...]", "")
	for {
		i := strings.LastIndexByte(function, '.')
		if i < 0 {
			return function
		}
		last := strings.TrimPrefix(strings.TrimPrefix(function[i+1:], "func"), "gowrap")
		if _, err := strconv.Atoi(last); err != nil {
			return function
		}
		function = function[:i]
	}
}
