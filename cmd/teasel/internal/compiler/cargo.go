package compiler

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/monitor"
)

// NewCargo returns the verb cargo.
func NewCargo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cargo ARG...",
		Short: "Build Rust for 'teasel native': cargo with teasel's coverage and runtime",
		Long: `Run cargo so that 'teasel native' can fuzz what it builds: programs that read standard input or a file, and targets of
cargo-fuzz, which become harnesses. All arguments but a lone --help are cargo's, and any stable toolchain will do. It says at the end which
programs there are; they are in target/TRIPLE, beside those of other builds. What was built runs as before when teasel
does not run it, but it checks for overflow, and a panic ends it at once.

C in crates is compiled by 'teasel cc'. RUSTFLAGS are added to teasel's own.

Environment: TEASEL_CC names another clang, which links; TEASEL_NO_HOOKS=1 leaves out comparison hooks.`,
		Example: `  teasel cargo build --release && teasel native -- target/x86_64-unknown-linux-gnu/release/PROGRAM
  cd fuzz && teasel cargo build --release`,
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsHelp(args) {
				return cmd.Help()
			}
			return cargo(cmd.Context(), args, cmd.ErrOrStderr())
		},
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true // beside others it is cargo's
	return cmd
}

// cargo runs cargo, which replaces our process unless it builds.
func cargo(ctx context.Context, args []string, stderr io.Writer) error {
	tool, err := exec.LookPath("cargo")
	if err != nil {
		return exit.Usage("on Debian: apt-get install cargo; newer ones: https://rustup.rs", "looking for cargo: %w", err)
	}
	c := clang.Cargo{Compiler: C.compiler(), Triple: triple(args)}
	env, err := c.Environment(ctx, os.Environ())
	if errors.Is(err, exec.ErrNotFound) {
		return exit.Usage("on Debian: apt-get install cargo rustc clang; "+C.variable+" names a clang that is elsewhere", "%w", err)
	}
	if err != nil {
		return exit.Failure(err)
	}
	verb := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "+") && !strings.HasPrefix(a, "-") })
	builds := verb >= 0 && (args[verb] == "build" || args[verb] == "b") &&
		!slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--message-format") || a == "-h" || a == "--help" })
	if !builds {
		if err := syscall.Exec(tool, append([]string{"cargo"}, args...), env); err != nil {
			return exit.Failure(fmt.Errorf("running %s: %w", tool, err))
		}
	}
	args = slices.Insert(slices.Clone(args), verb+1, "--message-format=json-render-diagnostics")
	return cargoBuild(ctx, exec.CommandContext(ctx, tool, args...), env, stderr)
}

// cargoBuild runs cargo and prints which programs it has built.
func cargoBuild(ctx context.Context, cmd *exec.Cmd, env []string, stderr io.Writer) error {
	cmd.Env, cmd.Stdin, cmd.Stderr = env, os.Stdin, stderr
	if f := monitor.Terminal(stderr); f != nil { // and no pipe, so that it has colours
		cmd.Stderr = f
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return exit.Failure(fmt.Errorf("running cargo: %w", err))
	}
	programs := readPrograms(out)
	err = cmd.Wait()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Status: exit.StatusInterrupted}
	case errors.As(err, &ended):
		return &exit.Error{Status: ended.ExitCode()} // cargo has said why
	case err != nil:
		return exit.Failure(fmt.Errorf("running cargo: %w", err))
	}
	for _, p := range programs {
		fmt.Fprintf(stderr, "teasel: to fuzz it: teasel native -- %s\n", p)
	}
	return nil
}

// readPrograms returns the programs that cargo has built, from the messages that it writes.
func readPrograms(r io.Reader) (programs []string) {
	here, _ := os.Getwd()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var artifact struct {
			Executable string
			Target     struct{ Kind []string }
		}
		if json.Unmarshal(line, &artifact) == nil && artifact.Executable != "" && !slices.Contains(artifact.Target.Kind, "custom-build") {
			name := artifact.Executable
			if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
				name = rel
			}
			programs = append(programs, name)
		}
		if err != nil {
			return programs
		}
	}
}

// triple returns the value of --target in the arguments of cargo; "": there is none.
func triple(args []string) (out string) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if v, ok := strings.CutPrefix(a, "--target="); ok {
			out = v
		} else if a == "--target" && i+1 < len(args) {
			out = args[i+1]
		}
	}
	return out
}
