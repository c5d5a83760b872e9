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
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// Target is a program: one that a [Compiler] has built, or any other. Its methods may be called by several goroutines at once.
type Target struct {
	Command  []string      // program, looked up in PATH, and its arguments; "@@", also as a part of one, stands for a file with the input
	Env      []string      // added to our own, NAME=value; sanitizers' options are added to teasel's
	Dir      string        // working directory; "": ours
	Timeout  time.Duration // of one run, in processor time; one that only waits has several times as long by the clock; 0: 1 s
	Memory   uint64        // bytes that a run may hold; 0: 2 GiB
	Operands string        // another build of the same program, with comparison hooks; "": the program itself
	Batch    int           // inputs of one round trip at most; 0: 256 of a harness, 64 of a program that is forked for each
	Runs     int           // of a harness, before it gets a fresh process; 0: 50,000
	Exits    []int         // exit statuses that are crashes
	Mode     string        // how it is run, one of the Mode constants
	Tracer   []string      // program, looked up in PATH, and arguments that run the command and have AFL's fork server in them, as afl-qemu-trace; nil: none
	Start    time.Duration // for the program to get ready for its first input; 0: 30 s
	Malloc   uint64        // bytes of one allocation that is reported as out of memory, under a sanitizer; 0: as many as a run may hold
	Note     func(string)  // called, by any worker, with a sentence that the user should see; nil: nobody is told
	Cores    *Cores        // that workers and their processes are bound to, one each; nil: they run anywhere

	release func() // what Open has bound the thread to; set on the executor's copy
}

var _ teasel.Target[[]byte] = Target{}

func (t Target) limit() time.Duration {
	if t.Timeout <= 0 {
		return time.Second
	}
	return t.Timeout
}

const (
	harnessBatch = 256 // which take the quickest ten times as long as the round trip
	programBatch = 64
)

// batch is how many inputs make one round trip at most.
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
	inputsRoom   = 64 << 20 // bytes of the inputs of a batch
	operandsRoom = 1 << 15
	// signature is in every program that carries the runtime.
	signature = "TEASEL_FD"
)

// sanitizers are options under which a fault ends the process at once, with a report that we can read. What the user
// sets comes later and wins. Those of AddressSanitizer and ThreadSanitizer read UBSAN_OPTIONS as well, so what is there holds for them too.
var sanitizers = [...]struct{ name, options string }{
	{"ASAN_OPTIONS", "abort_on_error=1:symbolize=0:leak_check_at_exit=0:allocator_may_return_null=1:malloc_context_size=0:fast_unwind_on_malloc=0:handle_abort=0:detect_odr_violation=0"},
	{"MSAN_OPTIONS", "abort_on_error=1:exitcode=86:symbolize=0:allocator_may_return_null=1:handle_abort=0"},
	{"UBSAN_OPTIONS", "halt_on_error=1:abort_on_error=1:symbolize=0:print_stacktrace=1"},
	{"TSAN_OPTIONS", "halt_on_error=1:exitcode=66:symbolize=0:handle_abort=1:handle_sigill=1:handle_sigtrap=1:die_after_fork=0:stack_trace_format='    #%n %p %F %L'"},
	{"LSAN_OPTIONS", "leak_check_at_exit=0:exitcode=23:symbolize=0"},
}

func (t Target) environment() []string {
	env := append(os.Environ(), t.Env...)
	for _, s := range sanitizers {
		value := s.options
		for _, e := range env {
			if users, ok := strings.CutPrefix(e, s.name+"="); ok {
				value = s.options + ":" + users
			}
		}
		env = append(env, s.name+"="+value)
	}
	if !slices.ContainsFunc(t.Env, func(e string) bool { return strings.HasPrefix(e, "RUST_BACKTRACE=") }) {
		env = append(env, "RUST_BACKTRACE=0") // to print it takes a hundred times as long as to crash, and we have the stack
	}
	return append(env, "LD_BIND_NOW=1") // or every child resolves the same names again
}

func (t Target) openRuntime(ctx context.Context, b image) (teasel.Executor[[]byte], error) {
	if err := t.linked(b); err != nil {
		return nil, err
	}
	if t.Operands != "" {
		other := Target{Command: []string{t.Operands}}
		o, _, err := other.recognise()
		if err == nil {
			err = other.linked(o)
		}
		if err != nil {
			return nil, err
		}
		t.Operands = o.path
	}
	var err error
	e := &executor{target: t, history: operands.History{Room: operandsRoom}, unstable: map[uint32]uint8{}, loops: map[string]bool{}}
	if e.memory, err = sancov.NewMemory(sancov.Limits{Slots: t.batch(true), Inputs: inputsRoom, Operands: operandsRoom, Malloc: cmp.Or(t.Malloc, t.memory())}); err != nil {
		return nil, err
	}
	e.command = sancov.Command{Env: t.environment(), Dir: t.Dir, Memory: t.memory(), Start: t.Start, Runs: uint32(t.Runs), Hooks: clang.HookCalls(b.path)}
	if t.Runs == 0 {
		e.command.Runs = 50_000
	}
	e.command.Args, e.command.Input, e.folder, err = placeFile(slices.Concat([]string{b.path}, t.Command[1:]))
	if err == nil {
		err = e.start(ctx)
	}
	if err == nil && t.Operands != "" { // for a build that does not fit to show now
		_, err = e.server(ctx, teasel.Ask{Operands: true})
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}
