package native

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// StartError is the error of a program that cannot be fuzzed. Its text is one sentence; Stderr and Hint are to be printed below it.
type StartError struct {
	Command []string
	What    string // what is wrong: "it has not been linked with teasel's runtime"
	Stderr  string // the program's standard error; "": nothing
	Hint    string // what the user may do; "": there is no hint
	Err     error  // error of the operating system; nil: none
}

func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %s", strings.Join(e.Command, " "), e.What)
}

// Unwrap returns the error of the operating system, nil if there is none.
func (e *StartError) Unwrap() error { return e.Err }

// buildHint tells how to build a program for teasel.
const buildHint = `build a harness with: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness
hint: or a whole project with: ./configure CC='teasel cc' CXX='teasel c++' && make; Rust with: teasel cargo build`

// rebuildHint tells how to build a harness of another fuzzer for teasel.
const rebuildHint = `rebuild it from the same source: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o %s
hint: 'teasel c++' stands for clang++; Rust with: teasel cargo build`

// commandError returns an error that was found before the program was started.
func (t Target) commandError(what, hint string, err error) *StartError {
	return &StartError{Command: t.Command, What: what, Hint: hint, Err: err}
}

// lookupError returns the error for a program that does not exist or is not executable.
func (t Target) lookupError(err error) *StartError {
	name := t.Command[0]
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir():
		return t.commandError(name+" is a directory, expected a program", "", err)
	case errors.Is(err, exec.ErrNotFound) && statErr == nil:
		return t.commandError(name+" is not in PATH", "to run the one in this directory: ./"+name, err)
	case errors.Is(err, exec.ErrNotFound):
		return t.commandError("no such program in PATH: "+name, "give its path, or build it: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", err)
	case errors.Is(err, fs.ErrNotExist):
		return t.commandError("no such file: "+name, "check the path, or build it: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o "+name, err)
	case slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".rs"}, filepath.Ext(name)):
		return t.commandError(name+" is source code, expected a program", buildHint, err)
	case errors.Is(err, fs.ErrPermission):
		return t.commandError(name+" is not executable", "chmod +x "+name, err)
	}
	return t.commandError(err.Error(), "", err)
}

// examine returns an error if the program's file shows that the program cannot be run.
func (t Target) examine(b *image, text []byte) error {
	name := filepath.Base(b.path)
	switch {
	case b.script:
		return nil // what it starts may be instrumented
	case !bytes.HasPrefix(text, []byte(elf.ELFMAG)):
		return t.commandError(name+" is no program: neither an ELF file nor a script", buildHint, nil)
	}
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return t.commandError(name+" is a broken ELF file: "+err.Error(), buildHint, err)
	}
	defer f.Close()
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	switch {
	case f.Type == elf.ET_REL:
		return t.commandError(name+" is an object file, expected a program", "link it: teasel cc -fsanitize=fuzzer,address "+name+" -o harness", nil)
	case len(t.Tracer) > 0: // a tracer may emulate another machine
	case f.Class == elf.ELFCLASS32 && (b.runtime || t.Mode == ModeRuntime):
		return t.commandError(name+" is a 32-bit program, and only 64-bit ones can be fuzzed", "build it without -m32", nil)
	case machine != 0 && f.Machine != machine && f.Class != elf.ELFCLASS32: // most kernels run 32-bit programs too
		return t.commandError(fmt.Sprintf("%s is a program for another machine (%v)", name, f.Machine), "build it for this one: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", nil)
	}
	return nil
}

// launch starts a program with our runtime. If the program is at fault, the error is a [*StartError].
func (e *executor) launch(ctx context.Context, c sancov.Command) (*sancov.Server, error) {
	s, err := sancov.Start(ctx, e.memory, c)
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	out := e.target.startError(err)
	var notInstrumented *sancov.NotInstrumented
	if errors.As(err, &notInstrumented) {
		out.What, out.Stderr, out.Hint = notInstrumented.How, notInstrumented.Stderr, "run it by hand to see why: "+strings.Join(e.target.Command, " ")
		if notInstrumented.Slow {
			out.Hint = "give it more time with --start-timeout, for example --start-timeout 2m"
		}
		if b, err := os.ReadFile(c.Args[0]); err == nil && !bytes.Contains(b, []byte(signature)) {
			out.What, out.Hint = out.What+": what it runs has not been linked with teasel's runtime", buildHint
		}
	}
	return nil, out
}

// startError converts an error of starting the program.
func (t Target) startError(err error) *StartError {
	var already *StartError
	if errors.As(err, &already) {
		return already
	}
	path, _ := exec.LookPath(t.Command[0])
	what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "starting "+path+": "), "starting "+t.Command[0]+": ")
	out := t.commandError(what, "", err)
	var noHandshake *forkserver.NoHandshake
	switch {
	case errors.As(err, &noHandshake):
		out.What, out.Stderr, out.Hint = "it has not started AFL's fork server ("+noHandshake.How+")", strings.TrimSpace(noHandshake.Stderr), "build it with afl-cc, or for teasel with: teasel cc"
	case errors.Is(err, exec.ErrNotFound):
	case errors.Is(err, syscall.ENOENT):
		out.What, out.Hint = "its interpreter, or the working directory, does not exist", "check the first line of a script, and --dir"
	case errors.Is(err, syscall.ENOEXEC):
		out.What, out.Hint = "it is neither a program for this machine nor a script that begins with #!", buildHint
	}
	return out
}

// openError returns the error of Open for a program that could not be started; closing is the error of the clean-up.
func (t Target) openError(ctx context.Context, err, closing error) error {
	if ctx.Err() == nil {
		err = t.startError(err)
	}
	return errors.Join(err, closing)
}
