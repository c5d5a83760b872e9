package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
)

// mcpPlan is the plan of a campaign on a server.
type mcpPlan struct {
	campaign.Plan[script.Script]
	session *session.Session
	choice  session.Choice
	cleanup cleanup
	ending  sync.WaitGroup // of the server that was asked for its tools
}

func (p *mcpPlan) close() {
	p.ending.Wait()
	p.cleanup.close()
}

// target returns the target of a campaign on the server that command starts.
func (o *mcpOptions) target(command []string) *mcprun.Target {
	t := &mcprun.Target{Command: command, Env: flags.Environment(o.Env), Dir: o.Dir, Timeout: o.Timeout, StartTimeout: o.StartTimeout,
		Version: o.Protocol, Window: o.Window, Exact: o.Runs > 0}
	if o.Workers > 1 { // each worker has its own server
		t.Spares = 1
	}
	return t
}

// planMCP asks the server what it has, and prepares its campaign. Mistakes of the user's are found before the server is started.
func planMCP(ctx context.Context, o *mcpOptions, stderr io.Writer) (_ *mcpPlan, err error) {
	command, err := resolveDemo(o.Command)
	if err != nil {
		return nil, err
	}
	dictionary, err := campaign.LoadDictionaries(gen.DefaultDictionary(), o.Dict, stderr)
	if err != nil {
		return nil, err
	}
	given, err := campaign.LoadCorpus(o.Corpus, teasel.Codec[script.Script](script.Codec{}), stderr)
	if err != nil {
		return nil, err
	}
	p := &mcpPlan{}
	target := o.target(command)
	if err := o.httpOptions.apply(target); err != nil {
		return nil, err
	}
	p.cleanup.guard(stderr)
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	target.Stateless = o.Era == "stateless"
	visit, err := target.Visit(ctx)
	if (o.Era == "" || o.Era == "auto") && server.RefusesHandshake(err) {
		other := *target
		other.Stateless = true
		if v, e := other.Visit(ctx); e == nil {
			visit, err, target.Stateless, o.Era = v, nil, true, "stateless"
		}
	}
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	defer func() {
		if err != nil {
			visit.Close()
			return
		}
		p.ending.Go(visit.Close) // the campaign does not wait for it
	}()
	p.session = visit.Session
	target.Session = p.session
	if err := p.choose(o, stderr); err != nil {
		return nil, err
	}
	target.Blocked, target.Excluded, target.Withheld = p.choice.Blocks, p.choice.Excludes, new(script.Withheld)
	spread := new(judge.Spread)
	p.Complete = func(run *report.Run) {
		run.Skipped = append(slices.Clone(run.Skipped), withheld(target.Withheld)...)
		run.Summary.Findings = slices.Clone(run.Summary.Findings)
		for i := range run.Summary.Findings {
			spread.Describe(&run.Summary.Findings[i])
		}
	}
	if !o.DryRun {
		warnBlocked(stderr, o.Command, &p.choice)
		if err := visit.Learn(ctx, &p.choice); err != nil {
			return nil, exit.InterruptedOr(ctx, err)
		}
		p.cleanup.placeCanary(target, o.Env, stderr)
	}
	mutator, err := p.prepare(ctx, o, dictionary, given)
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	p.Campaign = mcp.Campaign(target, mutator, judge.DetectorConfig{Slow: o.Slow, Spread: spread})
	return p, nil
}

// prepare makes the mutator and the seeds.
func (p *mcpPlan) prepare(ctx context.Context, o *mcpOptions, dictionary *mutate.Dictionary, given []campaign.Seed[script.Script]) (*gen.Mutator, error) {
	mutator, err := gen.NewMutatorContext(ctx, gen.MutatorConfig{Session: p.session, Choice: &p.choice, Dictionary: dictionary, Profile: o.profile()})
	if err != nil {
		return nil, err
	}
	for _, s := range mutator.Skipped() {
		p.Meta.Skipped = append(p.Meta.Skipped, corpus.Skip(s))
	}
	p.Options, p.NewReport, p.Severity = &o.Options, reportRun, o.Severity
	if err := p.describe(o); err != nil {
		return nil, err
	}
	return mutator, p.loadSeeds(ctx, mutator, given)
}

// choose decides which of the server's tools are called, and warns of what is unusual about the server.
func (p *mcpPlan) choose(o *mcpOptions, stderr io.Writer) (err error) {
	if p.session.Direct != nil {
		fmt.Fprintf(stderr, "teasel: %s takes its time: further processes are started directly, with %s\n", o.Command[0],
			report.Line(strings.Join(p.session.Direct, " ")))
	}
	for _, t := range p.session.Trouble {
		fmt.Fprintf(stderr, "teasel: warning: %s\n", report.Line(t))
	}
	selection := session.Selection{Include: o.Include, Exclude: o.Exclude, Allow: o.Allow, Patterns: o.Destructive, Strict: o.Strict}
	if p.choice, err = selection.Apply(p.session); err != nil {
		return exit.Usage("--include, --exclude and --allow take globs such as 'read_*', --destructive a regular expression such as '^drop'", "%w", err)
	}
	for _, glob := range p.choice.Idle {
		fmt.Fprintf(stderr, "teasel: warning: no tool matches %q\n", glob)
	}
	for _, b := range p.choice.Blocked {
		p.Meta.Blocked = append(p.Meta.Blocked, b.Name)
	}
	return nil
}

// withheld returns which lines were not sent because of the tools they name.
func withheld(w *script.Withheld) (skips []report.Skip) {
	for tool, n := range w.Lines() {
		skips = append(skips, report.Skip{Subject: "tools/call " + tool, Reason: fmt.Sprintf("%d lines were not sent, because they name the tool", n)})
	}
	return skips
}

// describe fills in what is written to campaign.json.
func (p *mcpPlan) describe(o *mcpOptions) (err error) {
	m := &p.Meta
	m.Version, m.Kind, m.Name, m.Seed, m.Extension = campaign.Version, "mcp", cmp.Or(strings.Join(o.Command, " "), o.URL), o.Seed, ".json"
	m.Crashes, m.Hangs = mcp.CrashRules(), mcp.HangRules()
	for _, t := range p.choice.Tools {
		m.Subjects = append(m.Subjects, "tools/call "+t.Name)
	}
	if m.Options, err = campaign.RawJSON(o); err != nil {
		return err
	}
	var blocked []string
	for _, t := range p.session.Tools {
		if p.choice.Blocks(t.Name) {
			blocked = append(blocked, t.Name)
		}
	}
	m.Target, err = campaign.RawJSON(mcpTarget{Command: o.Command, httpOptions: o.httpOptions, Env: o.Env, Dir: o.Dir, Version: o.Protocol, Stateless: o.Era == "stateless", Timeout: o.Timeout,
		StartTimeout: o.StartTimeout, Blocked: blocked, Slow: o.Slow})
	return err
}

// loadSeeds collects the seeds: teasel's own first, then those of the user.
func (p *mcpPlan) loadSeeds(ctx context.Context, mutator *gen.Mutator, given []campaign.Seed[script.Script]) error {
	seeds, err := mutator.SeedsContext(ctx)
	if err != nil {
		return err
	}
	for _, s := range seeds {
		folder := corpus.EdgeCases
		if s.Valid {
			folder = corpus.Valid
		}
		p.Seeds = append(p.Seeds, campaign.Seed[script.Script]{Folder: folder, Name: s.Name, Input: s.Script})
	}
	p.Seeds = append(p.Seeds, given...)
	return nil
}

func (p *mcpPlan) dryRun(w io.Writer) error {
	s := p.session
	fmt.Fprintf(w, "%s speaks protocol version %s\n", report.Line(p.Meta.Name), report.Line(s.Version))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { // names that servers give may contain anything
		for i := range cells {
			cells[i] = report.Line(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	for _, tool := range p.choice.Tools {
		row("fuzz", "tools/call "+tool.Name, "")
	}
	for _, b := range p.choice.Blocked {
		row("blocked", "tools/call "+b.Name, b.Why+"; --allow '"+b.Name+"' permits it")
	}
	for _, name := range p.choice.Excluded {
		row("excluded", "tools/call "+name, "")
	}
	for _, k := range p.Meta.Skipped {
		row("skipped", k.Subject, k.Reason)
	}
	for _, r := range s.Resources {
		row("fuzz", "resources/read "+r.URI, "")
	}
	for _, r := range s.Templates {
		row("fuzz", "resources/read "+r.URI, "")
	}
	for _, r := range s.Prompts {
		row("fuzz", "prompts/get "+r.Name, "")
	}
	row("fuzz", "every other method, the JSON-RPC layer and the bytes of the wire", "")
	return exit.Failure(t.Flush())
}
