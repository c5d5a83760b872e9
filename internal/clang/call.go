package clang

import (
	"slices"
	"strings"
)

// objectArgs returns arguments for object files, which are effective even after an option -x.
func objectArgs(c call, files ...string) []string {
	if c.language {
		files = append([]string{"-x", "none"}, files...)
	}
	if c.noDefaultLibraries {
		files = append(files, "-lc") // libraries must follow the objects that need them
	}
	return files
}

// step is what a compiler is called for.
type step uint8

const (
	stepOther   step = iota // nothing to instrument
	stepCompile             // makes objects
	stepLink                // makes a program or a shared library
)

// call is a parsed command line of a compiler.
type call struct {
	args               []string // without arguments that conflict with ours
	step               step
	shared             bool
	preprocess         bool // -E was used
	fuzzer             bool // -fsanitize=fuzzer, or a library that stands for it, was used
	sanitized          bool // another sanitizer was used
	intercepts         bool // one of them has a memcmp of its own, which calls our hook
	debug              bool
	optimised          bool
	protected          bool // stack protection was chosen, or declined
	language           bool // -x was used
	static             bool
	noLibraries        bool     // -nostdlib: no library is linked, so that our runtime cannot be either
	noDefaultLibraries bool     // -nodefaultlibs: the C library is named explicitly, as by rustc
	machine            []string // flags that select the target machine
}

// withValue are clang's common options whose value is the next argument.
var withValue = map[string]bool{"-o": true, "-x": true, "-I": true, "-D": true, "-U": true, "-L": true, "-l": true,
	"-include": true, "-imacros": true, "-isystem": true, "-iquote": true, "-idirafter": true, "-isysroot": true,
	"-MF": true, "-MT": true, "-MQ": true, "-Xclang": true, "-Xlinker": true, "-Xpreprocessor": true, "-Xassembler": true,
	"-mllvm": true, "-target": true, "-T": true, "-u": true, "-z": true, "-e": true, "-arch": true, "-framework": true}

func parseCall(args []string) call {
	c := call{step: stepLink}
	inputs := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		value := withValue[a] && i+1 < len(args)
		if a == "-Xlinker" && value && withoutStrip("-Wl,"+args[i+1]) == "" {
			i++
			continue
		}
		kept := c.note(a)
		if kept == "" {
			continue
		}
		c.args = append(c.args, kept)
		if value {
			i++
			c.args = append(c.args, args[i])
			if a == "-target" || a == "-isysroot" {
				c.machine = append(c.machine, a, args[i])
			}
		} else if a == "-" || !strings.HasPrefix(a, "-") || strings.HasPrefix(a, "-l") {
			inputs++
		}
	}
	if inputs == 0 || c.noLibraries && c.step == stepLink {
		c.step = stepOther
	}
	return c
}

// note records one argument and returns the argument to pass on, "" for none.
func (c *call) note(a string) string {
	lower := func(s step) { c.step = min(c.step, s) }
	switch {
	case a == "-c" || a == "-S":
		lower(stepCompile)
	case a == "-E":
		c.preprocess = true
		lower(stepOther)
	case a == "-M" || a == "-MM" || a == "-fsyntax-only" || a == "-r" || a == "--analyze" || a == "-###" ||
		a == "--version" || strings.HasPrefix(a, "-print-") || strings.HasPrefix(a, "-dump"):
		lower(stepOther)
	case a == "-nostdlib":
		c.noLibraries = true
	case a == "-shared" || a == "--shared":
		c.shared = true
	case a == "-static" || a == "--static" || a == "-static-pie":
		c.static = true
	case a == "-nodefaultlibs":
		c.noDefaultLibraries = true
	case a == "-x":
		c.language = true
	case a == "-g0", strings.HasPrefix(a, "-gz"):
	case strings.HasPrefix(a, "-g") && !strings.HasPrefix(a, "-gcc"):
		c.debug = true
	case strings.HasPrefix(a, "-O"):
		c.optimised = true
	case strings.HasPrefix(a, "-fstack-protector"), a == "-fno-stack-protector":
		c.protected = true
	case a == "-m32" || a == "-m64" || strings.HasPrefix(a, "--target=") || strings.HasPrefix(a, "--sysroot="):
		c.machine = append(c.machine, a)
	case isFuzzerLibrary(a):
		c.fuzzer = true
		return ""
	case strings.HasPrefix(a, "-fsanitize-coverage="), a == "-s":
		return ""
	case strings.HasPrefix(a, "-Wl,"):
		return withoutStrip(a)
	case strings.HasPrefix(a, "-fsanitize="):
		return c.sanitizers(a)
	}
	return a
}

// withoutStrip removes the options to strip from an argument -Wl: findings need names, and the linker cannot keep relocations in a
// stripped program.
func withoutStrip(a string) string {
	kept := slices.DeleteFunc(strings.Split(a, ","), func(s string) bool { return s == "-s" || s == "--strip-all" })
	if len(kept) == 1 {
		return ""
	}
	return strings.Join(kept, ",")
}

// intercepting are the sanitizers that take the place of the C library's functions.
var intercepting = [...]string{"address", "hwaddress", "memory", "thread", "dataflow"}

// sanitizers removes libFuzzer, which teasel replaces, from an argument -fsanitize.
func (c *call) sanitizers(a string) string {
	var kept []string
	for s := range strings.SplitSeq(strings.TrimPrefix(a, "-fsanitize="), ",") {
		switch s {
		case "fuzzer":
			c.fuzzer = true
		case "fuzzer-no-link":
		default:
			kept = append(kept, s)
			c.intercepts = c.intercepts || slices.Contains(intercepting[:], s)
		}
	}
	if kept == nil {
		return ""
	}
	c.sanitized = true
	return "-fsanitize=" + strings.Join(kept, ",")
}
