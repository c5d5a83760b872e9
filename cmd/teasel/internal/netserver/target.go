package netserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Target describes a server in a finding's file, with all that it takes to start it again.
type Target struct {
	Command         []string      `json:"command,omitempty"`
	Env             []string      `json:"env,omitempty"`
	Dir             string        `json:"dir,omitempty"`
	Connect         string        `json:"connect"`
	Model           string        `json:"model,omitempty"`
	Keep            bool          `json:"keep,omitempty"`
	User            string        `json:"user,omitempty"`
	Timeout         time.Duration `json:"timeout"`
	Start           time.Duration `json:"start_timeout,omitempty"`
	Memory          flags.Size    `json:"memory_limit,omitempty"`
	Reset           string        `json:"reset,omitempty"`
	Health          string        `json:"health,omitempty"`
	Strict          bool          `json:"strict,omitempty"`
	flags.Isolation `json:"isolation,omitzero"`
}

// server returns the target that is described.
func (t *Target) server() (netproto.Target, error) {
	out := netproto.Target{Address: t.Connect, Command: t.Command, Env: flags.Environment(t.Env), Dir: t.Dir, User: t.User, Keep: t.Keep, Timeout: t.Timeout,
		Start: t.Start, Memory: uint64(t.Memory), Strict: t.Strict, Reset: shell(t.Reset), Health: shell(t.Health), Sandbox: t.Sandbox, Allow: t.Allowed, KeepHome: t.KeepHome}
	if t.Model == "" {
		return out, nil
	}
	m, err := model.Load(t.Model)
	if errors.Is(err, fs.ErrNotExist) {
		return out, exit.Usage("'teasel net new' writes a model to begin with; built in are "+strings.Join(model.Protocols(), ", "), "--model %s: there is no such file", t.Model)
	}
	if err != nil {
		return out, exit.Usage("'teasel net check "+t.Model+"' says more", "%w", err)
	}
	out.Model = m
	return out, nil
}

// sandbox returns the sandbox around the server; nil: there is none.
func (t *Target) sandbox(scratch string) *isolation.Sandbox {
	return campaign.SandboxOf(&t.Isolation, scratch, t.Command, cmp.Or(t.Dir, scratch)) // without a directory it has one below that
}

// shell returns the command that runs a command line.
func shell(line string) []string {
	if line == "" {
		return nil
	}
	return []string{"sh", "-c", line}
}

// Kind is the kind of servers of network protocols.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "net", NewReplayer: newReplayer, Resume: campaign.ResumeOf(func() campaign.Verb[*dialogue.Dialogue] { return &options{mutation: defaultMutation(), keepSet: true} }), Script: standalone, Coverage: coverage, Panels: panels}
}

// newReplayer returns what runs inputs on the server of a finding.
func newReplayer(ctx context.Context, raw json.RawMessage, stderr io.Writer) (campaign.Replayer, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return nil, err
	}
	if len(t.Command) > 0 {
		if err := flags.CheckStart(t.Command, t.Env); err != nil {
			return nil, err
		}
	}
	target, err := t.server()
	if err != nil {
		return nil, err
	}
	target.Thorough = true
	if target.Scratch, err = campaign.Isolate(ctx, &t.Isolation, 0, io.Discard, nil); err != nil {
		return nil, err
	}
	return &replay.Runner[*dialogue.Dialogue]{
		Target: target, Codec: dialogue.Codec{Model: target.Model}, Mutator: newMutator(target.Model, &mutate.Dictionary{}), Detectors: campaign.WithSandbox(netproto.Detectors, t.sandbox(target.Scratch))(), Stderr: stderr,
	}, nil
}

// standalone returns a program that shows a finding without teasel.
func standalone(raw json.RawMessage, f *corpus.FindingFile) (string, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return "", err
	}
	target, err := t.server()
	if err != nil {
		return "", err
	}
	in, err := (dialogue.Codec{Model: target.Model}).Decode(f.Finding.Input)
	if err != nil {
		return "", exit.Usage("", "reading the finding's input: %w", err)
	}
	text, err := target.Script(in, fmt.Sprintf("%s, %s: %s", f.Finding.Rule, f.Finding.Subject, f.Finding.Message), netproto.Repetitions(&f.Finding), f.Finding.Detail)
	return text, exit.Failure(err)
}

// absolutePath returns the absolute path of a file, since a finding may be reproduced from another directory.
func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
