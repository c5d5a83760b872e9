package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
	"golang.org/x/time/rate"
)

// plan is the plan of a campaign on a server.
type plan struct {
	campaign.Plan[script.Script]
	session *session.Session
	choice  session.Choice
	cleanup cleanup
	ending  sync.WaitGroup // of the server that was asked for its tools
}

func (p *plan) close() {
	p.ending.Wait()
	p.cleanup.close()
}

// Plan implements [campaign.Verb]. It asks the server what it has. Mistakes of the user's are found before the server is started.
func (o *options) Plan(ctx context.Context, stderr io.Writer, leave func() error) (_ *campaign.Plan[script.Script], err error) {
	about := Target{Command: o.Command, httpOptions: o.httpOptions, Env: o.Env, Dir: o.Dir, Version: o.Protocol, Stateless: o.Era == "stateless", Timeout: o.Timeout,
		StartTimeout: o.StartTimeout, Slow: o.Slow, Isolation: o.Isolation}
	dictionary := gen.DefaultDictionary()
	given, scratch, err := campaign.Load(ctx, &o.Launch, teasel.Codec[script.Script](script.Codec{}), dictionary, stderr, leave)
	if err != nil {
		return nil, err
	}
	target, err := about.server()
	if err != nil {
		return nil, err
	}
	target.Scratch, target.Window, target.Exact, target.Rate = scratch, o.Window, o.Runs > 0, o.limiter()
	if o.Workers > 1 { // each worker has its own server
		target.Spares = 1
	}
	p := &plan{}
	p.cleanup.guard(stderr)
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	visit, err := o.visit(ctx, target)
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	defer func() { p.ending.Go(visit.Close) }() // the campaign does not wait for it
	p.session = visit.Session
	target.Session = p.session
	if err := p.choose(o, stderr); err != nil {
		return nil, err
	}
	target.Blocked, target.Excluded, target.Withheld, target.Called, target.Last = p.choice.Blocks, p.choice.Excludes, new(script.Withheld), new(atomic.Uint64), new(server.LastSent)
	spread := new(judge.Spread)
	p.Complete = func(run *report.Run) { p.complete(run, o, target, spread) }
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
	if err := p.compare(ctx, o, target, dictionary); err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	p.Sandbox = campaign.SandboxOf(&o.Isolation, scratch, target.Command.Args, o.Dir)
	p.Campaign = mcp.Campaign(target, mutator, judge.DetectorConfig{Slow: o.Slow, Spread: spread})
	p.DryRun, p.Close, p.Gone = p.dryRun, p.close, goneFinding
	about.Stateless = target.Stateless
	return &p.Plan, p.describe(o, about)
}

// limiter returns the limit of requests a second; nil: there is none.
func (o *options) limiter() *rate.Limiter {
	if o.Rate == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(o.Rate), 1)
}

// visit starts the server and asks what it has: without a handshake if it refuses one, and the user has not said which it is.
func (o *options) visit(ctx context.Context, target *mcprun.Target) (*server.Visit, error) {
	visit, err := target.Visit(ctx)
	if o.Era != "" && o.Era != "auto" || !server.RefusesHandshake(err) {
		return visit, err
	}
	other := *target
	other.Stateless = true
	v, e := other.Visit(ctx)
	if e != nil {
		return visit, err
	}
	if v.Session.Undiscovered && v.Session.Initialize.Get("resultType") == nil { // nothing says that it speaks that version
		v.Close()
		return visit, err
	}
	target.Stateless, o.Era = true, "stateless"
	return v, nil
}

// complete adds to the report of a campaign that has run.
func (p *plan) complete(run *report.Run, o *options, target *mcprun.Target, spread *judge.Spread) {
	run.LibraryFails = o.FailOnSDK
	run.Skipped = append(slices.Clone(run.Skipped), withheld(target.Withheld)...)
	if n := len(p.choice.Tools); n > 0 && target.Called.Load() == 0 && p.Campaign.Resume == nil { // else an earlier run has called them
		run.Untested = fmt.Sprintf("No tool was called: the campaign ended before it came to the %s of the server.", noun.Count(n, "tool", "tools"))
	}
	run.Summary.Findings = slices.Clone(run.Summary.Findings)
	for i := range run.Summary.Findings {
		spread.Describe(&run.Summary.Findings[i])
	}
}

// prepare makes the mutator and the seeds.
func (p *plan) prepare(ctx context.Context, o *options, dictionary *mutate.Dictionary, given []campaign.Seed[script.Script]) (*gen.Mutator, error) {
	profile, err := o.profile()
	if err != nil {
		return nil, err
	}
	mutator, err := gen.NewMutatorContext(ctx, gen.MutatorConfig{Session: p.session, Choice: &p.choice, Dictionary: dictionary, Profile: profile})
	if err != nil {
		return nil, err
	}
	for _, s := range mutator.Skipped() {
		p.Meta.Skipped = append(p.Meta.Skipped, corpus.Skip(s))
	}
	if o.Rate > 0 {
		p.Meta.Skipped = append(p.Meta.Skipped, corpus.Skip{Subject: "long scripts", Reason: fmt.Sprintf("--rate %d: what sends very many requests, such as checks of growth, would take all of the time", o.Rate)})
	}
	return mutator, p.loadSeeds(ctx, mutator, given)
}

// choose decides which of the server's tools are called, and warns of what is unusual about the server.
func (p *plan) choose(o *options, stderr io.Writer) (err error) {
	if p.session.Direct != nil {
		fmt.Fprintf(stderr, "teasel: %s takes its time: further processes are started directly, with %s\n", o.Command[0],
			plain.Line(strings.Join(p.session.Direct, " ")))
	}
	if p.session.Undiscovered {
		fmt.Fprintf(stderr, "teasel: warning: the server refuses server/discover: its lists have to say what it has\n")
	}
	for _, t := range p.session.Trouble {
		fmt.Fprintf(stderr, "teasel: warning: %s\n", plain.Line(t))
	}
	selection := session.Selection{Include: o.Include, Exclude: o.Exclude, Allow: o.Allow, Patterns: o.Destructive, Strict: o.Strict, Most: o.MaxTools}
	if p.choice, err = selection.Apply(p.session); err != nil {
		return exit.Usage("--include, --exclude and --allow take globs such as 'read_*', --destructive a regular expression such as '^drop'", "%w", err)
	}
	for _, glob := range p.choice.Idle {
		fmt.Fprintf(stderr, "teasel: warning: no tool matches %q\n", glob)
	}
	for _, b := range p.choice.Blocked {
		p.Meta.Blocked = append(p.Meta.Blocked, b.Name)
	}
	if len(p.choice.Tools)+len(p.choice.Blocked) == 0 && len(p.choice.Excluded) > 0 && !slices.Contains(o.Exclude, "*") {
		p.Meta.Skipped = append(p.Meta.Skipped, corpus.Skip{Subject: allTools, Reason: "--include and --exclude leave out each tool of the server"})
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
func (p *plan) describe(o *options, about Target) error {
	m := &p.Meta
	m.Name, m.Extension, m.Crashes, m.Hangs = cmp.Or(strings.Join(o.Command, " "), o.URL), ".json", mcp.CrashRules(), mcp.HangRules()
	if m.Library = server.Library(o.Command, o.Dir); p.session.Direct != nil {
		m.Library = server.Library(p.session.Direct, o.Dir)
	}
	for _, t := range p.choice.Tools {
		m.Subjects = append(m.Subjects, "tools/call "+t.Name)
	}
	for _, t := range p.session.Tools {
		if p.choice.Blocks(t.Name) {
			about.Blocked = append(about.Blocked, t.Name)
		}
	}
	return p.Describe(Kind(), &o.Launch, o, about)
}

// loadSeeds collects the seeds: those of the user first, then teasel's own.
func (p *plan) loadSeeds(ctx context.Context, mutator *gen.Mutator, given []campaign.Seed[script.Script]) error {
	seeds, err := mutator.SeedsContext(ctx)
	if err != nil {
		return err
	}
	p.Seeds = append(p.Seeds, given...)
	for _, s := range seeds {
		folder := corpus.EdgeCases
		if s.Valid {
			folder = corpus.Valid
		}
		p.Seeds = append(p.Seeds, campaign.Seed[script.Script]{Folder: folder, Name: s.Name, Input: s.Script})
	}
	return nil
}

func (p *plan) dryRun(w io.Writer) error {
	s := p.session
	fmt.Fprintf(w, "%s speaks protocol version %s\n", plain.Line(p.Meta.Name), plain.Line(s.Version))
	if p.Meta.Library != "" {
		fmt.Fprintf(w, "it is built on %s\n", plain.Line(p.Meta.Library))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { // names that servers give may contain anything
		for i := range cells {
			cells[i] = plain.Line(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	for _, tool := range p.choice.Tools {
		note := ""
		if session.TraitsOf(&tool).SaysOpen {
			note = "its annotations say openWorldHint: a call may reach other machines"
		}
		row("fuzz", "tools/call "+tool.Name, note)
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
	if err := t.Flush(); err != nil {
		return exit.Failure(err)
	}
	if len(p.choice.Blocked) > 0 && !p.Options.Sandbox {
		fmt.Fprintln(w, "hint: this server has tools that may change something lasting: --sandbox keeps what it does away from your files and network")
	}
	return nil
}
