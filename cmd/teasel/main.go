// The teasel command fuzzes MCP servers and native programs; network protocols and Go functions are to follow.
//
// It only reads what the user typed and shows what came of it: the engine is package teasel, each kind of target has
// a package of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// version is what --version and reports say.
const version = "0.1.0"

// The exit statuses are part of the surface.
const (
	exitOK          = 0
	exitFindings    = 1 // at or above --fail-on
	exitUsage       = 2 // usage or configuration
	exitTarget      = 3 // the target could not be started
	exitFailure     = 4 // our own
	exitInterrupted = 130
	exitUnread      = 141 // nobody reads our standard output: what a shell says of those that die of it
)

// softMemory is where the garbage collector begins to work harder: a fuzzer makes much garbage and keeps little, and
// the memory of the machine belongs to the target.
const softMemory = 192 << 20

// waiting is how many goroutines may hold a processor of the Go runtime for each that the machine has. A worker that waits for
// its target in a system call holds one too, and without more of them has to look for it when the target has answered.
const waiting = 2

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(waiting * runtime.GOMAXPROCS(0))
	}
	os.Exit(run(context.Background(), invoked(os.Args), os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command with nothing of the process in it but signals.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(ctx, stderr)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if unread(err) {
		return exitUnread
	}
	var e *exit
	if !errors.As(err, &e) { // cobra's own
		e = &exit{status: exitUsage, err: err, hint: seeHelp(cmd)}
	}
	if e.err != nil {
		fmt.Fprintf(stderr, "teasel: %v\n", e.err)
	}
	if e.hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", e.hint)
	}
	return e.status
}

// unread reports whether an error is that nobody reads our standard output any more, as behind head.
func unread(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.EPIPE)
}

// interruptible returns a context that ends at the first interrupt, also that of a terminal that is closed. The second
// one ends the process: what was announced is on disk by then, and targets die with us.
func interruptible(ctx context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	ch, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(ch, syscall.SIGHUP)
	}
	// Whoever reads what we say may end before us, by the same Ctrl-C for one. That must not cost what was found: a write
	// fails then, and does not kill. Ignoring the signal would hand that on to the target.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	go func() {
		defer close(done)
		if _, ok := <-ch; !ok {
			return
		}
		fmt.Fprintln(stderr, "\nteasel: stopping (interrupt again to leave at once)")
		cancel()
		for s := range ch {
			if s != syscall.SIGHUP { // which comes from the shell and from the kernel when a terminal is closed
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		signal.Stop(pipe)
		close(ch)
		<-done
		cancel()
	}
}

// exit is an error that says how the command ends.
type exit struct {
	status int
	err    error // nil: everything was said already
	hint   string
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func usage(hint, format string, args ...any) error {
	return &exit{status: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

func failure(err error) error {
	var e *exit
	if err == nil || errors.As(err, &e) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &exit{status: exitFailure, err: err, hint: "there is no room: free some, or name another folder with --out, and with TMPDIR for temporary files"}
	}
	return &exit{status: exitFailure, err: err, hint: "this is a fault of teasel or of the machine, not of the target; please report it with the command that you typed"}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "teasel",
		Short: "Tease bugs out of software",
		Long: `teasel finds the input that breaks a program, shrinks it, and hands you one command that shows the bug again.

Begin with 'teasel demo', which fuzzes a small buggy server that is built in, point it at a server of your own:

  teasel mcp -- node my-server.js

at a server of any other protocol:

  teasel net --connect 127.0.0.1:{port} -- mosquitto -p {port}

at the fuzz tests of Go packages:

  teasel go ./...

or at a program in C, C++ or Rust, built with teasel:

  teasel cc -g -fsanitize=fuzzer,address harness.c -o harness
  teasel native -- ./harness

Exit status: 0 nothing found, 1 findings at or above --fail-on, 2 usage or configuration, 3 the target could not be
started, 4 our own failure, 130 interrupted.`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newMCP(), newNet(), newNative(), newGo(), newCompiler(cCompiler), newCompiler(cxxCompiler), newCargo(), newDemo(), newRepro(), newMin(), newCmin(), newCov(),
		newShow(), newReport(), newResume(), newVersion(), newMan(), newDemoServer(), newLibfuzzer())
	addCompletion(root)
	return root
}
