package native

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// Target describes a program to fuzz, built with 'teasel cc' or in any other way. Command must be set; the zero value of each other
// field is its default. Its methods may be called concurrently.
type Target struct {
	Command  []string      // program, looked up in PATH, and its arguments; "@@", also as a part of one, stands for a file with the input
	Env      []string      // added to our own, NAME=value; sanitizers' options are added to teasel's
	Dir      string        // working directory; "": ours
	Timeout  time.Duration // of one run, in processor time; a run that waits is stopped after several times as long by the clock; 0: 1 s
	Memory   uint64        // bytes that a run may hold; 0: 2 GiB
	Operands string        // another build of the same program, with comparison hooks; "": the program itself
	Batch    int           // maximum number of inputs of one round trip; 0: 256 for a harness, 64 for a program with a main
	Runs     int           // of a harness, after which it gets a fresh process; 0: 50,000
	Exits    []int         // exit statuses that count as crashes
	Mode     string        // how it is run, one of the Mode constants
	Tracer   []string      // program, looked up in PATH, and arguments that run the command under AFL's fork server, such as afl-qemu-trace; nil: none
	Start    time.Duration // time limit until the program is ready for its first input; 0: 30 s, less where only a fork server of a library would say so
	Malloc   uint64        // size of a single allocation, in bytes, above which a sanitizer build reports out of memory; 0: Memory
	Note     func(string)  // called with a sentence for the user, concurrently by several workers; nil: such sentences are dropped
	Cores    *Cores        // cores to which workers and their processes are bound, one each; nil: workers are not bound

	Scratch string   // folder in which each executor's programs have a home and a temporary directory of their own; "": they have ours
	Sandbox bool     // the programs run in a sandbox, which needs Scratch and what the command does for --sandbox
	Allow   []string // what the sandbox is opened for, as --sandbox-allow has it

	home    *isolation.Home // what an executor's programs have; set in its copy
	release func()          // ends the binding of the thread to a core; set in the executor's copy
}

var _ teasel.Target[[]byte] = Target{}

func (t Target) limit() time.Duration {
	if t.Timeout <= 0 {
		return time.Second
	}
	return t.Timeout
}

const (
	harnessBatch = 256 // runs of the fastest harness take ten times as long as the round trip
	programBatch = 64
)

// batch returns the maximum number of inputs of one round trip.
func (t Target) batch(harness bool) int {
	switch {
	case t.Batch > 0:
		return t.Batch
	case harness:
		return harnessBatch
	}
	return programBatch
}

const (
	inputsSize    = 64 << 20 // bytes of all inputs of a batch
	operandsCount = 1 << 15  // recorded comparisons of a batch
	// signature is a text in every program that contains the runtime.
	signature = "TEASEL_FD"
)

// sanitizers are the options with which a fault ends the process immediately, with a report that package triage can read. The user's
// options are appended and take precedence. AddressSanitizer and ThreadSanitizer read UBSAN_OPTIONS too, so that its options also
// apply to them.
var sanitizers = [...]struct{ name, options string }{
	{"ASAN_OPTIONS", "abort_on_error=1:symbolize=0:leak_check_at_exit=0:allocator_may_return_null=1:malloc_context_size=1:fast_unwind_on_malloc=0:handle_abort=0:detect_odr_violation=0"},
	{"MSAN_OPTIONS", "abort_on_error=1:exitcode=86:symbolize=0:allocator_may_return_null=1:handle_abort=0"},
	{"UBSAN_OPTIONS", "halt_on_error=1:abort_on_error=1:symbolize=0:print_stacktrace=1"},
	{"TSAN_OPTIONS", "halt_on_error=1:exitcode=66:symbolize=0:handle_abort=1:handle_sigill=1:handle_sigtrap=1:die_after_fork=0:stack_trace_format='    #%n %p %F %L'"},
	{"LSAN_OPTIONS", "leak_check_at_exit=0:exitcode=23:symbolize=0"},
}

// signalHandlers are options with which a sanitizer reports where a program was aborted or trapped, which our runtime does itself.
const signalHandlers = ":handle_abort=1:handle_sigill=1:handle_sigtrap=1"

// environment returns the environment of the program, with more options for sanitizers.
func (t Target) environment(more string) []string {
	env := slices.Concat(os.Environ(), t.home.Env(), t.Env)
	for _, s := range sanitizers {
		value := s.options + more
		for _, e := range env {
			if users, ok := strings.CutPrefix(e, s.name+"="); ok {
				value = s.options + more + ":" + users
			}
		}
		env = append(env, s.name+"="+value)
	}
	if !slices.ContainsFunc(t.Env, func(e string) bool { return strings.HasPrefix(e, "RUST_BACKTRACE=") }) {
		env = append(env, "RUST_BACKTRACE=0") // printing a backtrace takes a hundred times as long as crashing, and we have the stack
	}
	return append(env, "LD_BIND_NOW=1") // otherwise every child resolves the same symbols again
}

// makeHome makes the home of an executor's programs. folder is where their input files are; "": there are none.
func (t *Target) makeHome(folder string) (err error) {
	sandbox := isolation.NewSandbox(t.Sandbox, t.Allow, slices.Concat(t.Command, t.Tracer), t.Dir)
	if sandbox != nil && folder != "" {
		sandbox.Write = append(sandbox.Write, folder)
	}
	t.home, err = isolation.Make(isolation.Config{Scratch: t.Scratch, Sandbox: sandbox})
	return err
}

func (t Target) openRuntime(ctx context.Context, b image) (teasel.Executor[[]byte], error) {
	if err := t.checkRuntime(b); err != nil {
		return nil, err
	}
	if t.Operands != "" {
		other := Target{Command: []string{t.Operands}}
		o, _, err := other.readImage()
		if err == nil {
			err = other.checkRuntime(o)
		}
		if err != nil {
			return nil, err
		}
		t.Operands = o.path
	}
	var err error
	e := &executor{target: t, history: operands.History{Room: operandsCount}, unstable: map[uint32]uint8{}, loops: map[string]bool{}}
	if e.memory, err = sancov.NewMemory(sancov.Limits{Slots: t.batch(true), Inputs: inputsSize, Operands: operandsCount, Malloc: cmp.Or(t.Malloc, t.memory())}); err != nil {
		return nil, err
	}
	e.command = sancov.Command{Dir: t.Dir, Memory: t.memory(), Start: t.Start, Runs: uint32(t.Runs), Hooks: clang.HookCalls(b.path),
		Look: func(pid int) bool { return e.threads.look(pid, &e.symbols) }}
	if t.Runs == 0 {
		e.command.Runs = 50_000
	}
	e.command.Args, e.command.Input, e.folder, err = placeFile(slices.Concat([]string{b.path}, t.Command[1:]))
	if err == nil {
		err = e.target.makeHome(e.folder)
	}
	if err == nil {
		e.command.Env, e.command.On = e.target.environment(""), e.target.home.On()
		err = e.start(ctx)
	}
	if err == nil && t.Operands != "" { // start it now, to detect a build that does not fit
		_, err = e.server(ctx, teasel.Ask{Operands: true})
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}
