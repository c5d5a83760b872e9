package native

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// How a program is run: the values of [Target.Mode].
const (
	ModeAuto     = ""         // by what the program turns out to be
	ModeRuntime  = "runtime"  // by teasel's own runtime, which a [Compiler] has linked into it
	ModeAFL      = "afl"      // by the fork server that AFL or AFL++ has built into it, or that its tracer has
	ModeBlackBox = "blackbox" // it is started for every input, and judged by its exit status and output
)

// What is in every program that AFL or AFL++ has built, and in those that say something of themselves.
const (
	aflSignature   = "__AFL_SHM_ID"
	aflPersistent  = "##SIG_AFL_PERSISTENT##"
	aflDeferred    = "##SIG_AFL_DEFER_FORKSRV##"
	buildLine      = "teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness"
	buildProject   = "CC='teasel cc' CXX='teasel c++'"
	instrumentHint = "build a harness with `" + buildLine + "`, or the whole program with " + buildProject
)

// program is what its file says of it.
type program struct {
	path     string
	script   bool
	runtime  bool
	afl      bool
	loops    bool
	deferred bool
}

// recognise looks the program up and into its file.
func (t Target) recognise() (p program, err error) {
	if len(t.Command) == 0 || t.Command[0] == "" {
		return p, errors.New("the command is empty")
	}
	if p.path, err = exec.LookPath(t.Command[0]); err != nil {
		return p, err
	}
	if p.path, err = filepath.Abs(p.path); err != nil {
		return p, err
	}
	b, err := os.ReadFile(p.path)
	if err != nil {
		return p, err
	}
	p.script = !bytes.HasPrefix(b, []byte(elf.ELFMAG))
	p.runtime = !p.script && bytes.Contains(b, []byte(signature))
	p.afl = len(t.Tracer) > 0 || !p.script && bytes.Contains(b, []byte(aflSignature))
	p.loops, p.deferred = bytes.Contains(b, []byte(aflPersistent)), bytes.Contains(b, []byte(aflDeferred))
	return p, nil
}

// openAs opens the program in the way that the mode says, or that fits it.
func (t Target) openAs(ctx context.Context, runtime func(context.Context) (teasel.Executor[[]byte], error)) (teasel.Executor[[]byte], error) {
	ex, err := t.choose(ctx, runtime)
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		err = fmt.Errorf("it is neither a program for this machine nor a script that begins with #!: %w", err)
	case errors.Is(err, syscall.ENOENT) && !errors.Is(err, exec.ErrNotFound) && t.exists():
		err = fmt.Errorf("its interpreter, or the working directory, does not exist: %w", err)
	}
	return ex, err
}

// exists reports whether there is such a file, so that it must be another one that is missing.
func (t Target) exists() bool {
	_, err := exec.LookPath(t.Command[0])
	return err == nil
}

// choose tries what it may be: what a script starts, or a library that a program uses, shows only when it runs.
func (t Target) choose(ctx context.Context, runtime func(context.Context) (teasel.Executor[[]byte], error)) (teasel.Executor[[]byte], error) {
	if !slices.Contains([]string{ModeAuto, ModeRuntime, ModeAFL, ModeBlackBox}, t.Mode) {
		return nil, fmt.Errorf("target %s: mode %q: expected %s, %s or %s", strings.Join(t.Command, " "), t.Mode, ModeRuntime, ModeAFL, ModeBlackBox)
	}
	if t.Mode == ModeRuntime {
		return runtime(ctx)
	}
	p, err := t.recognise()
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", strings.Join(t.Command, " "), err)
	}
	var deaf *sancov.NotInstrumented
	var silent *forkserver.Silent
	switch {
	case t.Mode == ModeAFL, t.Mode == ModeAuto && p.afl:
		return t.openAFL(ctx, p)
	case t.Mode == ModeBlackBox:
		return t.openBlackBox(ctx, p)
	case p.runtime:
		return runtime(ctx)
	case p.script:
		ex, err := runtime(ctx)
		if err == nil || !errors.As(err, &deaf) {
			return ex, err
		}
	}
	ex, err := t.openAFL(ctx, p)
	if err == nil || !errors.As(err, &silent) {
		return ex, err
	}
	return t.openBlackBox(ctx, p)
}

// command returns the arguments with the input's file in the placeholder's stead, and that file in a folder of its own;
// "": there is no placeholder.
func (t Target) command(p program) (args []string, input, folder string, err error) {
	args = slices.Clone(t.Command)
	args[0] = p.path
	if len(t.Tracer) > 0 {
		tracer, err := exec.LookPath(t.Tracer[0])
		if err != nil {
			return nil, "", "", fmt.Errorf("tracer: %w", err)
		}
		args = slices.Concat([]string{tracer}, t.Tracer[1:], args)
	}
	for i, a := range args[1:] {
		if !strings.Contains(a, placeholder) {
			continue
		}
		if folder == "" {
			if folder, err = os.MkdirTemp(scratch(), "teasel-"); err != nil {
				return nil, "", "", fmt.Errorf("making a folder for the input: %w", err)
			}
			input = filepath.Join(folder, "input")
		}
		args[1+i] = strings.ReplaceAll(a, placeholder, input)
	}
	return args, input, folder, nil
}

func (t Target) memory() uint64 {
	if t.Memory == 0 {
		return 2 << 30
	}
	return t.Memory
}

// prepare returns what the forkserver package has to know.
func (t Target) prepare(p program) (c forkserver.Command, err error) {
	c = forkserver.Command{Env: t.environment(), Dir: t.Dir, Memory: t.memory(), Loops: p.loops, Defers: p.deferred}
	c.Args, c.Input, c.Folder, err = t.command(p)
	return c, err
}
