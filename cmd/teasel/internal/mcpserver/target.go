package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/report"
)

// Target describes a server in a finding's file, with all that it takes to start it again.
type Target struct {
	Command []string `json:"command"`
	httpOptions
	Env             []string      `json:"env,omitempty"`
	Dir             string        `json:"dir,omitempty"`
	Version         string        `json:"protocol_version,omitempty"`
	Stateless       bool          `json:"stateless,omitempty"` // without the handshake
	Timeout         time.Duration `json:"timeout"`
	StartTimeout    time.Duration `json:"start_timeout,omitempty"`
	Blocked         []string      `json:"blocked,omitempty"` // tools that are never called
	Slow            time.Duration `json:"slow,omitempty"`    // from when an answer is reported as slow
	flags.Isolation `json:"isolation,omitzero"`
}

// Kind is the kind of MCP servers.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "mcp", NewReplayer: newReplayer, Resume: campaign.ResumeOf(func() campaign.Verb[script.Script] { return &options{} }), Script: standalone, Coverage: coverage, Panels: panels, Complete: describeReport}
}

// allTools is the subject of what is said of the calls of all tools.
const allTools = "tools/call"

// describeReport adds to a report what is the SDK's, and that no tool of a server was called.
func describeReport(m *corpus.Meta, r *report.Run) {
	if r.Library = m.Library; m.Library != "" {
		r.OfLibrary = func(f teasel.Finding) bool { return judge.OfLibrary(&f) }
	}
	if len(m.Subjects) > 0 {
		return
	}
	if len(m.Blocked) > 0 {
		r.Untested = fmt.Sprintf("No tool was called: each may change something that outlives the server (%s).", strings.Join(m.Blocked, ", "))
	} else if i := slices.IndexFunc(m.Skipped, func(k corpus.Skip) bool { return k.Subject == allTools }); i >= 0 {
		r.Untested = fmt.Sprintf("No tool was called: %s.", m.Skipped[i].Reason)
	}
}

// server returns the target that is described.
func (t *Target) server() (*mcprun.Target, error) {
	command, err := resolveDemo(t.Command)
	if err != nil {
		return nil, err
	}
	out := &mcprun.Target{Command: server.Command{Args: command, Env: flags.Environment(t.Env), Dir: t.Dir, Timeout: t.Timeout, StartTimeout: t.StartTimeout, Version: t.Version, Stateless: t.Stateless, Sandbox: t.Sandbox, Allow: t.Allowed}}
	return out, t.apply(out)
}

// newReplayer makes ready what it takes to run single scripts on the server of a finding.
func newReplayer(ctx context.Context, raw json.RawMessage, stderr io.Writer) (campaign.Replayer, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return nil, err
	}
	if t.URL == "" || len(t.Command) > 0 {
		if err := flags.CheckStart(t.Command, t.Env); err != nil {
			return nil, err
		}
	}
	target, err := t.server()
	if err != nil {
		return nil, err
	}
	target.Blocked = func(tool string) bool { return slices.Contains(t.Blocked, tool) }
	if target.Scratch, err = campaign.Isolate(ctx, &t.Isolation, 0, io.Discard, nil); err != nil {
		return nil, err
	}
	b := &replayer{}
	b.cleanup.guard(io.Discard)
	b.cleanup.placeCanary(target, t.Env, io.Discard)
	ready := progress.Wait(stderr, "waiting for the server to say what it has")
	session, err := target.Discover(ctx)
	ready()
	if err != nil {
		b.cleanup.close()
		return nil, exit.InterruptedOr(ctx, err)
	}
	target.Session = session
	detectors := func() []teasel.Detector { return judge.Detectors(judge.DetectorConfig{Slow: t.Slow}) }
	b.Runner = replay.Runner[script.Script]{Target: target, Codec: script.Codec{}, Mutator: gen.NewMutator(gen.MutatorConfig{Session: session}),
		Detectors: campaign.WithSandbox(detectors, campaign.SandboxOf(&t.Isolation, target.Scratch, target.Command.Args, t.Dir))(), Stderr: stderr}
	return b, nil
}

// replayer cleans up when it is done.
type replayer struct {
	replay.Runner[script.Script]
	cleanup cleanup
}

// Repro implements [campaign.Replayer].
func (b *replayer) Repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error {
	defer b.cleanup.close()
	return b.Runner.Repro(ctx, w, f, tries)
}

// Minimize implements [campaign.Replayer].
func (b *replayer) Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (bool, error) {
	defer b.cleanup.close()
	return b.Runner.Minimize(ctx, w, f, runs)
}

// standalone returns a program that shows a finding without teasel: a script of curl for one request over HTTP, otherwise one in Python.
func standalone(raw json.RawMessage, f *corpus.FindingFile) (string, error) {
	var t Target
	if err := campaign.ReadTarget(raw, &t); err != nil {
		return "", err
	}
	in, err := script.Codec{}.Decode(f.Finding.Input)
	if err != nil {
		return "", exit.Usage("", "reading the finding's input: %w", err)
	}
	command, err := resolveDemo(t.Command)
	if err != nil {
		return "", err
	}
	p := mcp.Program{About: fmt.Sprintf("%s, %s: %s", f.Finding.Rule, f.Finding.Subject, f.Finding.Message), Command: command, Env: flags.Environment(t.Env),
		Dir: t.Dir, URL: t.URL, Header: t.Header, Insecure: t.Insecure, Version: t.Version, Stateless: t.Stateless, Timeout: t.Timeout, Sandbox: t.Sandbox, KeepHome: t.KeepHome}
	if text, ok := p.Curl(in); ok {
		return text, nil
	}
	text, err := p.Python(in)
	return text, exit.Failure(err)
}
