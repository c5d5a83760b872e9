package native

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// How a program is run: the values of [Target.Mode].
const (
	ModeAuto     = ""         // the mode that fits the program
	ModeRuntime  = "runtime"  // by teasel's own runtime, which 'teasel cc' or 'teasel cargo' has linked into it
	ModeAFL      = "afl"      // by the fork server that AFL or AFL++ has built into it, or that of its tracer
	ModeBlackBox = "blackbox" // the program is started for every input, and judged by its exit status and output
)

// Texts in programs that AFL or AFL++ has built: in all of them, with persistent mode, with a deferred fork server, and with AFL++'s main.
const (
	aflSignature  = "__AFL_SHM_ID"
	aflPersistent = "##SIG_AFL_PERSISTENT##"
	aflDeferred   = "##SIG_AFL_DEFER_FORKSRV##"
	aflHarness    = "This binary is built for afl++"
)

// selfFuzzing are texts in programs that contain a fuzzer, and do not run a single input as other programs do.
var selfFuzzing = [...]struct{ text, fuzzer string }{
	{"INFO: seed corpus: files: ", "libFuzzer"},
	{"_LIBHFUZZ_PERSISTENT_BINARY_SIGNATURE_", "honggfuzz"},
}

// image describes a program by its file.
type image struct {
	path       string
	script     bool
	runtime    bool
	afl        bool
	persistent bool
	deferred   bool
	harness    bool // AFL++ has linked its own main with LLVMFuzzerTestOneInput
}

// readImage looks up the program and examines its file, whose contents it returns too.
func (t Target) readImage() (b image, text []byte, err error) {
	if len(t.Command) == 0 || t.Command[0] == "" {
		return b, nil, t.commandError("the command is empty", "", nil)
	}
	if b.path, err = exec.LookPath(t.Command[0]); err != nil {
		return b, nil, t.lookupError(err)
	}
	if b.path, err = filepath.Abs(b.path); err != nil {
		return b, nil, err
	}
	if text, err = os.ReadFile(b.path); err != nil {
		return b, nil, t.commandError(err.Error(), "teasel has to read the program to see how it was built", err)
	}
	b.script = bytes.HasPrefix(text, []byte("#!"))
	b.runtime = !b.script && bytes.Contains(text, []byte(signature))
	b.afl = len(t.Tracer) > 0 || !b.script && bytes.Contains(text, []byte(aflSignature))
	for _, f := range selfFuzzing {
		if !b.script && !b.runtime && !b.afl && t.Mode != ModeBlackBox && bytes.Contains(text, []byte(f.text)) {
			name := filepath.Base(b.path)
			return b, nil, t.commandError(name+" fuzzes by itself, with "+f.fuzzer, fmt.Sprintf(rebuildHint, name), nil)
		}
	}
	b.persistent, b.deferred = bytes.Contains(text, []byte(aflPersistent)), bytes.Contains(text, []byte(aflDeferred))
	b.harness = bytes.Contains(text, []byte(aflHarness))
	return b, text, t.examine(&b, text)
}

// checkRuntime returns an error unless the program contains our runtime, or is a script, which may start such a program.
func (t Target) checkRuntime(b image) error {
	if b.runtime || b.script {
		return nil
	}
	return t.commandError(filepath.Base(b.path)+" has not been linked with teasel's runtime", buildHint, nil)
}

// How long a program that does not look like one with a fork server is waited for: so many time limits of a run, within bounds. A library
// may have one, whose handshake comes before main; a program that hangs with an empty input sends nothing either.
const (
	handshakeLimits = 10
	leastHandshake  = 2 * time.Second
	mostHandshake   = 30 * time.Second
)

// Open starts the program in the given mode. With ModeAuto it tries the modes that the program's file permits: the programs that a
// script starts, and the libraries that a program uses, are only known when it runs. The evidence of an observation is a [*Crash].
// The executor is also a [teasel.BatchExecutor]; with instrumentation it is a [teasel.Learner] and a [teasel.Resetter], and with
// teasel's runtime it records comparisons for package mutate/operands. The executor must be used, and closed, by the goroutine that
// has called Open if the target has Cores. If the program is at fault, the error is a [*StartError].
func (t Target) Open(ctx context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	b, _, err := t.readImage()
	if err != nil {
		return nil, err
	}
	t = t.bound(role)
	ex, err := t.open(ctx, b)
	if err != nil {
		t.release()
	}
	return ex, err
}

func (t Target) open(ctx context.Context, b image) (teasel.Executor[[]byte], error) {
	var notInstrumented *sancov.NotInstrumented
	var noHandshake *forkserver.NoHandshake
	switch {
	case t.Mode == ModeRuntime, t.Mode == ModeAuto && b.runtime && !b.afl:
		return t.openRuntime(ctx, b)
	case t.Operands != "" && !b.script:
		return nil, t.commandError("it was not built by 'teasel cc', and only such a program has a second build with comparison hooks (--operands)", buildHint, nil)
	case t.Mode == ModeAFL, t.Mode == ModeAuto && b.afl:
		return t.openAFL(ctx, b)
	case t.Mode == ModeBlackBox:
		return t.openBlackBox(ctx, b)
	case t.Mode != ModeAuto:
		return nil, t.commandError(fmt.Sprintf("mode %q: expected %s, %s or %s", t.Mode, ModeRuntime, ModeAFL, ModeBlackBox), "", nil)
	case b.script:
		ex, err := t.openRuntime(ctx, b)
		if err == nil || !errors.As(err, &notInstrumented) {
			return ex, err
		}
	}
	maybe := t
	if !b.script && t.Start == 0 {
		maybe.Start = min(max(handshakeLimits*t.limit(), leastHandshake), mostHandshake)
	}
	ex, err := maybe.openAFL(ctx, b)
	if err == nil || !errors.As(err, &noHandshake) {
		return ex, err
	}
	return t.openBlackBox(ctx, b)
}

// command returns the command to start, with placeholders for the input file.
func (t Target) command(p image) ([]string, error) {
	args := slices.Concat([]string{p.path}, t.Command[1:])
	if len(t.Tracer) == 0 {
		return args, nil
	}
	tracer, err := exec.LookPath(t.Tracer[0])
	if err != nil {
		what, hint := proc.StartFailure(t.Tracer[0], err)
		return nil, t.commandError("its tracer cannot be run: "+cmp.Or(what, err.Error()), hint, err)
	}
	return slices.Concat([]string{tracer}, t.Tracer[1:], args), nil
}

func (t Target) memory() uint64 {
	if t.Memory == 0 {
		return 2 << 30
	}
	return t.Memory
}

// prepare returns the command for package forkserver.
func (t *Target) prepare(p image) (c forkserver.Command, err error) {
	c = forkserver.Command{Dir: t.Dir, Memory: t.memory(), Persistent: p.persistent, Deferred: p.deferred, Start: t.Start}
	if c.Args, err = t.command(p); err != nil {
		return c, err
	}
	if c.Args, c.Input, c.Folder, err = placeFile(c.Args); err == nil {
		err = t.makeHome(c.Folder)
	}
	c.Env, c.On = t.environment(signalHandlers), t.home.On()
	return c, err
}
