// The teasel command fuzzes MCP servers, network servers, native programs and Go functions.
//
// It reads flags and configuration, and shows what a campaign finds: the engine is package teasel, and each kind of target has a
// package of its own. Here is the table of the verbs, which are in the packages below internal.
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
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/compiler"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/corpora"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/cov"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/hub"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/libfuzzer"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/mcpserver"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/netserver"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/program"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/project"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/results"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/rules"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/monitor"
)

// garbagePercent is how much garbage there may be beside what is in use before it is collected: a fuzzer makes much and keeps little. The
// only limit for both together goes by --max-memory: what is in use grows with the workers and with the longest inputs, and close to a
// limit a program does nothing but collect.
const garbagePercent = 200

// procsFactor is the ratio of GOMAXPROCS to the number of processors. A worker that waits for its target in a system call keeps its P,
// the right to run Go code; with more of them than processors it does not lose it meanwhile, and goes on at once when the target answers.
const procsFactor = 2

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(procsFactor * runtime.GOMAXPROCS(0))
	}
	os.Exit(run(context.Background(), compiler.Invoked(os.Args), os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: arguments and streams are passed in, and the exit status is returned.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if f, ok := stderr.(*os.File); ok {
		stderr = monitor.NewStream(f)
	}
	ctx, stop := interruptible(ctx, stderr)
	defer stop()
	ctx, remove := campaign.WithScratch(ctx)
	defer remove() // what cannot be removed is, by the next run
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exit.StatusOK
	}
	if isBrokenPipe(err) {
		return exit.StatusUnread
	}
	var e *exit.Error
	if !errors.As(err, &e) { // cobra's own
		e = &exit.Error{Status: exit.StatusUsage, Err: err, Hint: flags.SeeHelp(cmd)}
	}
	if cmd == root && err != nil && strings.HasPrefix(err.Error(), "unknown flag") { // 'teasel' alone runs what teasel.toml says
		e.Hint = "flags follow a verb, as in 'teasel native --duration 20s', or are keys of " + flags.DefaultConfig
	}
	if e.Hint == "" && e.Status == exit.StatusUsage {
		e.Hint = flags.SeeHelp(cmd)
	}
	if e.Err != nil {
		fmt.Fprintf(stderr, "teasel: %s\n", plain.Text(e.Err.Error())) // it may have words of a hub or of a target
	}
	if e.Hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", plain.Text(e.Hint)) // or of a file
	}
	return e.Status
}

// isBrokenPipe reports whether an error says that nobody reads our standard output any more, as behind head.
func isBrokenPipe(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.EPIPE)
}

// interruptible returns a context that is done at the first interrupt, or when the terminal is closed. The second interrupt ends the
// process: findings that were announced are on disk, and targets end with us.
func interruptible(ctx context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	ch, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(ch, syscall.SIGHUP)
	}
	// The program that reads our output may end before us, for example by the same Ctrl-C. Then a write has to fail, and not to kill us,
	// or findings would be lost. A signal that is ignored would be ignored by the target too.
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
				os.Exit(exit.StatusInterrupted)
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

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "teasel",
		Short: "Tease bugs out of software",
		Long: `teasel finds the input that breaks a program, shrinks it, and hands you one command that shows the bug again.

Begin with 'teasel demo', which fuzzes a small buggy server that is built in, or with 'teasel init' in the folder of a project:
it writes a teasel.toml, and 'teasel' alone runs what that says. Or point it at a server of your own:

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
		Version:       campaign.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          flags.KnownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return project.RunConfigured(cmd) },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.SetUsageFunc(flags.Usage)
	for _, g := range [...]struct {
		title string // in the help
		verbs []*cobra.Command
	}{
		{"Fuzz", []*cobra.Command{mcpserver.NewCommand(), netserver.NewCommand(), program.NewCommand(), gotest.NewCommand(), mcpserver.NewDemo(), results.NewResume(),
			project.NewCommand(), hub.NewCommand()}},
		{"Look at findings", []*cobra.Command{results.NewShow(), results.NewReport(), results.NewRepro(), results.NewMin(), program.NewTriage(gotest.Triage), rules.NewCommand(), rules.NewExplain()}},
		{"Work with a corpus", []*cobra.Command{corpora.NewCmin(), cov.NewCommand(), corpora.NewCorpus()}},
		{"Build programs to fuzz", []*cobra.Command{compiler.NewCommand(compiler.C), compiler.NewCommand(compiler.CXX), compiler.NewCargo()}},
		{"", []*cobra.Command{newVersion(), newMan(), mcpserver.NewDemoServer(), libfuzzer.NewCommand()}},
	} {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, verb := range g.verbs {
			verb.GroupID = g.title
			root.AddCommand(verb)
		}
	}
	addCompletion(root)
	flags.CompleteValues(root)
	return root
}
