package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// Target describes a program in a finding's file, with all that it takes to start it again.
type Target struct {
	Command         []string      `json:"command"`
	Env             []string      `json:"env,omitempty"`
	Dir             string        `json:"dir,omitempty"`
	Timeout         time.Duration `json:"timeout"`
	Start           time.Duration `json:"start_timeout,omitempty"`
	Memory          flags.Size    `json:"memory_limit,omitempty"`
	Malloc          flags.Size    `json:"malloc_limit,omitempty"`
	Exits           []int         `json:"crash_exit,omitempty"`
	Mode            string        `json:"mode,omitempty"`
	Tracer          []string      `json:"tracer,omitempty"`
	Harness         bool          `json:"harness,omitempty"` // started by hand, it takes the file of the input as an argument
	flags.Isolation `json:"isolation,omitzero"`
}

// Kind is the kind of native programs.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "native", NewReplayer: newReplayer, Resume: campaign.ResumeOf(func() campaign.Verb[[]byte] { return &options{} }), ByHand: byHand, Coverage: coverage, Panels: panels}
}

// program returns the target that is described.
func (t *Target) program() native.Target {
	return native.Target{Command: t.Command, Env: flags.Environment(t.Env), Dir: t.Dir, Timeout: t.Timeout, Start: t.Start, Memory: uint64(t.Memory), Malloc: uint64(t.Malloc),
		Exits: t.Exits, Mode: t.Mode, Tracer: t.Tracer, Sandbox: t.Sandbox, Allow: t.Allowed}
}

// sandbox returns the sandbox around the program; nil: there is none.
func (t *Target) sandbox(scratch string) *isolation.Sandbox {
	return campaign.SandboxOf(&t.Isolation, scratch, slices.Concat(t.Command, t.Tracer), t.Dir)
}

// newReplayer returns what runs inputs on the program of a finding.
func newReplayer(ctx context.Context, raw json.RawMessage, stderr io.Writer) (campaign.Replayer, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return nil, err
	}
	if err := flags.CheckStart(t.Command, t.Env); err != nil {
		return nil, err
	}
	target := t.program()
	var err error
	if target.Scratch, err = campaign.Isolate(ctx, &t.Isolation, 0, io.Discard, nil); err != nil {
		return nil, err
	}
	target.Batch = 1
	return &replay.Runner[[]byte]{Target: target, Codec: native.Codec{}, Mutator: native.NewMutator(&mutate.Bytes{}),
		Detectors: campaign.WithSandbox(detectors, t.sandbox(target.Scratch))(), Stderr: stderr}, nil
}

func detectors() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(native.Detect)} }

// byHand returns the command that runs a program on a file, "" if only teasel can run what is in it.
func byHand(raw json.RawMessage, f *teasel.Finding, input string) string {
	var t Target
	if campaign.ReadTarget(raw, &t) != nil || len(t.Command) == 0 || !t.Harness && native.Several(f.Input) {
		return ""
	}
	if t.Dir != "" { // the command runs there, and paths are relative to here
		input = absolute(input)
	}
	args, names := native.Placed(t.Command, input)
	if len(names) > 0 && !slices.Equal(names, []string{input}) { // the program insists on a name
		args, names = native.Placed(t.Command, "input")
	}
	if t.Dir != "" {
		args[0] = absolute(args[0])
	}
	for i := range args {
		args[i] = plain.Quote(args[i])
	}
	env := assignments(flags.Environment(t.Env))
	if f.Rule == native.RuleUndefined { // by default it is reported, but not fatal; options of the user's come last
		env = append([]string{"UBSAN_OPTIONS=halt_on_error=1"}, env...)
	}
	line := strings.Join(append(env, args...), " ")
	switch {
	case len(names) > 0:
		for _, name := range slices.Backward(names) {
			if name != input {
				line = fmt.Sprintf("install -D %s %s && %s", plain.Quote(input), plain.Quote(name), line)
			}
		}
	case t.Harness:
		line += t.memoryFlags(f) + " " + plain.Quote(input)
	default:
		line += " < " + plain.Quote(input)
	}
	if t.Dir != "" {
		return fmt.Sprintf("(cd %s && %s)", plain.Quote(t.Dir), line)
	}
	return line
}

// memoryFlags returns the flags that a harness needs by hand for a finding of its memory: the limits that it has there are others.
func (t *Target) memoryFlags(f *teasel.Finding) (flags string) {
	if f.Rule != native.MemoryRule {
		return ""
	}
	if t.Memory > 0 {
		flags += fmt.Sprintf(" -rss_limit_mb=%d", t.Memory>>20)
	}
	if t.Malloc > 0 {
		flags += fmt.Sprintf(" -malloc_limit_mb=%d", t.Malloc>>20)
	}
	return flags
}

// assignments returns variables as a shell takes them before a command.
func assignments(env []string) (out []string) {
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, name+"="+plain.Quote(value))
	}
	return out
}

// absolute returns an absolute path; a mere name, which is looked up in PATH, stays as it is.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && strings.ContainsRune(path, filepath.Separator) {
		return full
	}
	return path
}
