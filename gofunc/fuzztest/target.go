package fuzztest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Target is one fuzz test. [Target.Describe] has to be called before the first Open.
type Target struct {
	Binary  string        // the test binary, absolute
	Dir     string        // the package's directory, which it runs in
	Name    string        // of the fuzz test, such as FuzzParse
	Package string        // the package's import path, which tells its findings from those of other packages; "": there are none
	Env     []string      // added to our own environment
	Race    bool          // the binary was built with the race detector
	Timeout time.Duration // for one input; 0: 10 s, as go test -fuzz has it
	Memory  uint64        // bytes that the process may hold; 0: 2 GiB

	// Tested counts the executions that the test has not skipped, by all executors; nil: nobody wants to know.
	Tested *atomic.Uint64

	Scratch string   // folder in which each process has a home and a temporary directory of its own; "": it has ours
	Sandbox bool     // each process runs in a sandbox, which needs Scratch and what the command does for --sandbox
	Allow   []string // what the sandbox is opened for, as --sandbox-allow has it

	Kinds      []agent.Kind // of the fuzz target's arguments; [Target.Describe] sets it
	Counters   int          // of the compiler; [Target.Describe] sets it
	Typed      string       // the type of the values, if it is a typed test of package gofunc; [Target.Describe] sets it
	recursions *recursions  // set by Describe
	Nil        []int        // seeds of F.Add with a nil slice, which run with an empty one; [Target.Describe] sets it
}

var _ teasel.Target[[]byte] = (*Target)(nil)

// StartError is a fuzz test that cannot be run.
type StartError struct {
	Test   string // its name
	Reason string
	Output string // what the test binary has written
	Hint   string

	Skipped bool // the test has skipped itself, which is no failure
}

func (e *StartError) Error() string { return e.Test + ": " + e.Reason }

func (t *Target) timeout() time.Duration {
	if t.Timeout == 0 {
		return 10 * time.Second
	}
	return t.Timeout
}

func (t *Target) memory() uint64 {
	if t.Memory == 0 {
		return 2 << 30
	}
	return t.Memory
}

// identity tells the fuzz test from all others.
func (t *Target) identity() string { return t.Package + " " + t.Name }

func (t *Target) types() string {
	names := make([]string, len(t.Kinds))
	for i, k := range t.Kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ",")
}

// makeHome makes what a process has for itself.
func (t *Target) makeHome() (*isolation.Home, error) {
	return isolation.Make(isolation.Config{Scratch: t.Scratch, Sandbox: isolation.NewSandbox(t.Sandbox, t.Allow, []string{t.Binary}, t.Dir)})
}

// arguments are those of the test binary.
func (t *Target) arguments(worker bool) []string {
	args := []string{"-test.run=^$", "-test.fuzz=^" + t.Name + "$", "-test.paniconexit0", "-test.timeout=0", "-test.fuzzcachedir=" + os.TempDir()}
	if worker {
		args = append(args, "-test.fuzzworker")
	}
	return args
}

// startTime is how long a test may take to say what it is, its TestMain and init functions included.
const startTime = time.Minute

// Describe starts the test binary, which says what its fuzz test takes. The seeds it returns are those of F.Add, packed.
// A fuzz test that cannot be run is a [StartError].
func (t *Target) Describe(ctx context.Context) (seeds [][]byte, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer r.Close()
	own, err := t.makeHome()
	if err != nil {
		w.Close()
		return nil, err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	p, err := proc.Start(proc.Command{Args: append(append([]string{t.Binary}, t.arguments(false)...), "-test.v=true"), // which says why it is skipped
		Env: slices.Concat([]string{agent.Environment + "=3"}, own.Env(), t.Env), Dir: t.Dir, Files: []*os.File{w}, Merge: true, On: own.On(), Bound: own.On() != nil})
	w.Close()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Unix(1, 0)) })
	text, readErr := io.ReadAll(r)
	stop()
	if ctx.Err() == nil {
		select {
		case <-p.Ended():
		case <-ctx.Done():
		}
	}
	if err := p.Close(); err != nil {
		return nil, err
	}
	output, _ := p.Stderr(0)
	said := strings.Trim(running.ReplaceAllString(string(output), ""), "\r\n")
	if ctx.Err() == context.DeadlineExceeded {
		return nil, &StartError{Test: t.Name, Reason: "it did not come to F.Fuzz within " + startTime.String(), Output: said}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if readErr != nil || len(text) == 0 {
		return nil, t.silent(said, p.State())
	}
	if s := p.State(); (s.Code != 0 || s.Signal != 0) && strings.Contains("\n"+said, "\n--- FAIL: "+t.Name+" (") {
		return nil, &StartError{Test: t.Name, Output: said, Reason: "it fails without any input", Hint: "plain go test should show the same: " + t.Plain()}
	}
	return t.described(text)
}

// Plain returns the command with which the go command runs the test.
func (t *Target) Plain(flags ...string) string {
	return strings.Join(append(append([]string{"go", "test"}, flags...), "-run='^"+t.Name+"$'", cmp.Or(t.Package, ".")), " ")
}

// passed is what package testing prints when no test has failed, perhaps behind something that a test has printed.
var passed = regexp.MustCompile(`(?m)PASS$`)

// running is what package testing prints when a test begins or goes on.
var running = regexp.MustCompile(`(?m)^=== .*\n`)

// skipReason returns what a test has said of why it is skipped, if it is.
func (t *Target) skipReason(said string) (why string, skipped bool) {
	before, _, skipped := strings.Cut("\n"+said, "\n--- SKIP: "+t.Name+" (")
	lines := strings.Split(before, "\n")
	for i := len(lines) - 1; skipped && i >= 0; i-- {
		if m := logged.FindStringSubmatch(lines[i]); m != nil {
			return plain.Line(strings.Join(append(m[1:], lines[i+1:]...), " ")), true
		}
	}
	return "", skipped
}

// logged is the first line of what a test logs.
var logged = regexp.MustCompile(`^    [^ ].*\.go:\d+: (.*)$`)

// silent says why a test binary ended without a description.
func (t *Target) silent(said string, s proc.State) error {
	e := &StartError{Test: t.Name, Output: said}
	switch {
	case strings.Contains(said, "--- FAIL"), strings.Contains(said, "panic: "):
		e.Reason, e.Hint = "it failed before F.Fuzz", "plain go test should show the same: "+t.Plain()
	case s.Code == 0 && s.Signal == 0 && !passed.MatchString(said):
		e.Reason, e.Hint = "the process ended before the test", "does TestMain call Run of its testing.M?"
	case s.Code == 0 && s.Signal == 0 && !strings.Contains(said, "no fuzz tests"):
		e.Skipped = true
		e.Reason, e.Hint = "it did not call F.Fuzz", "plain go test should show why: "+t.Plain("-v")
		if why, skipped := t.skipReason(said); skipped {
			e.Reason = strings.TrimSuffix("it is skipped: "+why, ": ")
			if why != "" {
				e.Hint = ""
			}
		}
	case strings.Contains(said, "no fuzz tests to fuzz"):
		e.Reason = "the test binary has no such fuzz test"
	case s.Signal != 0:
		e.Reason = "the test binary was ended by " + s.Signal.String()
	default:
		e.Reason, e.Hint = fmt.Sprintf("the test binary ended with exit status %d before F.Fuzz", s.Code), "does an init function or TestMain end the process, or F.Fuzz never get called?"
	}
	return e
}

func (t *Target) described(text []byte) (seeds [][]byte, err error) {
	var d agent.Description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading what %s says of itself: %w", t.Name, err)
	}
	t.recursions = newRecursions()
	t.Kinds, t.Counters, t.Typed, t.Nil = d.Kinds(), d.Counters, d.Typed, d.Nil
	for i, k := range t.Kinds {
		if k == agent.KindInvalid {
			return nil, &StartError{Test: t.Name, Reason: fmt.Sprintf("argument %d is of type %s, which teasel does not know", i+1, d.Types[i])}
		}
	}
	for _, s := range d.Seeds {
		in, err := Codec{t.Kinds}.Decode(s)
		if err != nil {
			return nil, fmt.Errorf("reading a seed of %s: %w", t.Name, err)
		}
		seeds = append(seeds, in)
	}
	return seeds, nil
}

// Open starts the test. What it returns is also a [teasel.BatchExecutor], a [teasel.Learner] and a [teasel.Resetter],
// and gives [judge.Failure] as evidence.
func (t *Target) Open(_ context.Context, _ teasel.Role) (teasel.Executor[[]byte], error) {
	m, err := newMemory(t.Counters)
	if err != nil {
		return nil, err
	}
	e := &executor{target: t, m: m, doubts: map[uint32]uint8{}, known: map[string]bool{}, recursions: cmp.Or(t.recursions, newRecursions())}
	e.history.Room = operandRoom
	if e.process, err = startProcess(t, m); err != nil {
		return nil, e.failed(err)
	}
	return e, nil
}
