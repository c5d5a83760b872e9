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

// StartError says why a program could not be fuzzed at all. Its text is one sentence; Stderr and Hint are for the lines
// below it.
type StartError struct {
	Command []string
	What    string // what is wrong: "it has not been linked with teasel's runtime"
	Stderr  string // what the program wrote there; "": nothing
	Hint    string // what may help; "": nothing comes to mind
	Err     error  // nil: it was the program's doing
}

func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %s", strings.Join(e.Command, " "), e.What)
}

// Unwrap returns the operating system's reason, if that is what it was.
func (e *StartError) Unwrap() error { return e.Err }

// buildHint says how to build what cannot be run.
const buildHint = `build a harness with: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness
hint: or a whole project with: ./configure CC='teasel cc' CXX='teasel c++' && make; Rust with: teasel cargo build`

// rebuildHint says how to build a harness of another fuzzer for teasel.
const rebuildHint = `rebuild it from the same source: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o %s
hint: 'teasel c++' stands for clang++; Rust with: teasel cargo build`

// refused is an error about the command, found before it was started.
func (t Target) refused(what, hint string, err error) *StartError {
	return &StartError{Command: t.Command, What: what, Hint: hint, Err: err}
}

// lookupError is for a program that is not there, or that may not be run.
func (t Target) lookupError(err error) *StartError {
	name := t.Command[0]
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir():
		return t.refused(name+" is a directory, expected a program", "", err)
	case errors.Is(err, exec.ErrNotFound) && statErr == nil:
		return t.refused(name+" is not in PATH", "to run the one in this directory: ./"+name, err)
	case errors.Is(err, exec.ErrNotFound):
		return t.refused("no such program in PATH: "+name, "give its path, or build it: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", err)
	case errors.Is(err, fs.ErrNotExist):
		return t.refused("no such file: "+name, "check the path, or build it: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", err)
	case slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".rs"}, filepath.Ext(name)):
		return t.refused(name+" is source code, expected a program", buildHint, err)
	case errors.Is(err, fs.ErrPermission):
		return t.refused(name+" is not executable", "chmod +x "+name, err)
	}
	return t.refused(err.Error(), "", err)
}

// examine looks at what a file is, so that one that cannot work is not even started.
func (t Target) examine(b *image, text []byte) error {
	name := filepath.Base(b.path)
	switch {
	case b.script:
		return nil // what it starts may be instrumented
	case !bytes.HasPrefix(text, []byte(elf.ELFMAG)):
		return t.refused(name+" is no program: neither an ELF file nor a script", buildHint, nil)
	}
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return t.refused(name+" is a broken ELF file: "+err.Error(), buildHint, err)
	}
	defer f.Close()
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	switch {
	case f.Type == elf.ET_REL:
		return t.refused(name+" is an object file, expected a program", "link it: teasel cc -fsanitize=fuzzer,address "+name+" -o harness", nil)
	case len(t.Tracer) > 0: // which is for other machines
	case f.Class == elf.ELFCLASS32 && (b.runtime || t.Mode == ModeRuntime):
		return t.refused(name+" is a 32-bit program, and only 64-bit ones can be fuzzed", "build it without -m32", nil)
	case machine != 0 && f.Machine != machine && f.Class != elf.ELFCLASS32: // which most kernels run as well
		return t.refused(fmt.Sprintf("%s is a program for another machine (%v)", name, f.Machine), "build it for this one: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", nil)
	}
	return nil
}

// launch starts a program; what goes wrong with it is a [StartError].
func (e *executor) launch(ctx context.Context, c sancov.Command) (*sancov.Server, error) {
	s, err := sancov.Start(ctx, e.memory, c)
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	out := e.target.failed(err)
	var silent *sancov.NotInstrumented
	if errors.As(err, &silent) {
		out.What, out.Stderr, out.Hint = silent.How, silent.Stderr, "run it by hand to see why: "+strings.Join(e.target.Command, " ")
		if silent.Slow {
			out.Hint = "give it more time with --start-timeout, for example --start-timeout 2m"
		}
		if b, err := os.ReadFile(c.Args[0]); err == nil && !bytes.Contains(b, []byte(signature)) {
			out.What, out.Hint = out.What+": what it runs has not been linked with teasel's runtime", buildHint
		}
	}
	return nil, out
}

// failed is an error of starting a program.
func (t Target) failed(err error) *StartError {
	var already *StartError
	if errors.As(err, &already) {
		return already
	}
	path, _ := exec.LookPath(t.Command[0])
	what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "starting "+path+": "), "starting "+t.Command[0]+": ")
	out := t.refused(what, "", err)
	var silent *forkserver.NoHandshake
	switch {
	case errors.As(err, &silent):
		out.What, out.Stderr, out.Hint = "it has not started AFL's fork server ("+silent.How+")", strings.TrimSpace(silent.Stderr), "build it with afl-cc, or for teasel with: teasel cc"
	case errors.Is(err, exec.ErrNotFound):
	case errors.Is(err, syscall.ENOENT):
		out.What, out.Hint = "its interpreter, or the working directory, does not exist", "check the first line of a script, and --dir"
	case errors.Is(err, syscall.ENOEXEC):
		out.What, out.Hint = "it is neither a program for this machine nor a script that begins with #!", buildHint
	}
	return out
}

// giveUp returns what Open returns when it could not start the program; closing is what giving everything back came to.
func (t Target) giveUp(ctx context.Context, err, closing error) error {
	if ctx.Err() == nil {
		err = t.failed(err)
	}
	return errors.Join(err, closing)
}
