package main

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp"
)

// mcpTarget is what a finding's file says of its server: all that it takes to start it again.
type mcpTarget struct {
	Command      []string      `json:"command"`
	Env          []string      `json:"env,omitempty"`
	Dir          string        `json:"dir,omitempty"`
	Version      string        `json:"protocol_version,omitempty"`
	Timeout      time.Duration `json:"timeout"`
	StartTimeout time.Duration `json:"start_timeout,omitempty"`
	Blocked      []string      `json:"blocked,omitempty"` // tools that are never called
	Slow         time.Duration `json:"slow,omitempty"`    // from when an answer is reported as slow
}

// mcpBench makes ready what it takes to run single scripts on the server of a finding.
func mcpBench(ctx context.Context, raw json.RawMessage) (replayer, error) {
	var t mcpTarget
	if err := described(raw, &t); err != nil {
		return nil, err
	}
	if err := startable(t.Command, t.Env); err != nil {
		return nil, err
	}
	blocked := map[string]bool{}
	for _, b := range t.Blocked {
		blocked[b] = true
	}
	command, err := program(t.Command)
	if err != nil {
		return nil, err
	}
	target := &mcp.Target{Command: command, Env: environment(t.Env), Dir: t.Dir, Timeout: t.Timeout, StartTimeout: t.StartTimeout,
		Version: t.Version, Blocked: func(tool string) bool { return blocked[tool] }}
	b := &mcpReplayer{}
	b.remains.guard(io.Discard)
	b.remains.place(target, t.Env, io.Discard)
	session, err := target.Discover(ctx)
	if err != nil {
		b.remains.close()
		return nil, cutShort(ctx, err)
	}
	target.Session = session
	b.bench = bench[mcp.Script]{target: target, codec: mcp.Codec{}, mutator: mcp.NewMutator(mcp.MutatorConfig{Session: session}),
		detectors: mcp.Detectors(mcp.DetectorConfig{Slow: t.Slow})}
	return b, nil
}

// mcpReplayer takes away what remains when it is done.
type mcpReplayer struct {
	bench[mcp.Script]
	remains remains
}

func (b *mcpReplayer) repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error {
	defer b.remains.close()
	return b.bench.repro(ctx, w, f, tries)
}

func (b *mcpReplayer) minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (bool, error) {
	defer b.remains.close()
	return b.bench.minimize(ctx, w, f, runs)
}
