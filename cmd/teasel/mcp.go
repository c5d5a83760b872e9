package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
)

// mcpOptions are the flags of teasel mcp. They are stored with the campaign.
type mcpOptions struct {
	options
	launch
	Include      []string      `json:"include,omitempty"`
	Exclude      []string      `json:"exclude,omitempty"`
	Allow        []string      `json:"allow,omitempty"`
	Destructive  []string      `json:"destructive,omitempty"`
	Mode         string        `json:"mode"`
	MutateRatio  float64       `json:"mutate_ratio"`
	Protocol     string        `json:"protocol_version,omitempty"`
	Mutations    []string      `json:"mutations,omitempty"`
	Window       int           `json:"window,omitempty"`
	StartTimeout time.Duration `json:"start_timeout,omitempty"`
	Strict       bool          `json:"strict,omitempty"`
	Slow         time.Duration `json:"slow,omitempty"`
}

func newMCP() *cobra.Command {
	o := &mcpOptions{}
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- COMMAND [ARG...]",
		Short: "Fuzz a server that speaks the Model Context Protocol over stdio",
		Long: `Fuzz a server that speaks the Model Context Protocol over standard input and output.

The server is started, asked what it has, and then sent what it may not be ready for: every method, not only tool
calls, in arguments that follow its schemas or break them, in messages that are almost right, in sequences, and many
at once. What it answers guides what is sent next. Each finding is reproduced on a fresh server, made as small as it
gets, and written to a file that 'teasel repro' takes.

Tools that may change something that outlives the server are not called unless --allow names them; --dry-run shows
which those are, and why.`,
		Example: `  teasel mcp -- npx -y @modelcontextprotocol/server-everything
  teasel mcp --include 'read_*' --duration 30s -- node server.js /tmp/sandbox
  teasel mcp --dry-run -- python3 server.py
  teasel mcp --profile ci --format sarif -- ./server > teasel.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			table := func(c *config) (any, []string) { return &c.MCP, c.MCP.Command }
			if err := o.configure(cmd, args, table); err != nil {
				return err
			}
			return runMCP(cmd, o)
		},
	}
	addOptions(cmd, &o.options)
	addLaunch(cmd, &o.launch, "server")
	f := cmd.Flags()
	f.StringArrayVar(&o.Include, "include", nil, "glob of the tools to call; may be given several times (default: all)")
	f.StringArrayVar(&o.Exclude, "exclude", nil, "glob of tools to leave out; may be given several times")
	f.StringArrayVar(&o.Allow, "allow", nil, "glob of tools that are called though they may change something lasting; may be given several times")
	f.BoolVar(&o.Strict, "strict", false, "call only tools whose annotations say that they destroy nothing")
	f.StringArrayVar(&o.Destructive, "destructive", nil, "regular expression of names of tools that are not called unless they have annotations; may be given several times")
	f.DurationVar(&o.Slow, "slow", 0, "report answers that take longer; 0: 2s")
	f.Var(choice{&o.Mode, []string{"mixed", "conform", "adversarial"}}, "mode", "how generated arguments treat the tools' schemas (default mixed)")
	f.Float64Var(&o.MutateRatio, "mutate-ratio", 0, "share of inputs made by changing what was kept, the rest is made from nothing; 0 to 1 (default: the profile's)")
	f.StringVar(&o.Protocol, "protocol-version", "", "protocol version to ask for (default: the newest)")
	f.StringArrayVar(&o.Mutations, "mutation", nil, "mutation to use, by name; may be given several times (default: all that the profile has)")
	f.IntVar(&o.Window, "window", 0, "requests in flight; 0: 64")
	f.DurationVar(&o.StartTimeout, "start-timeout", 0, "time for the server to start and answer initialize; 0: 30s")
	return cmd
}

func runMCP(cmd *cobra.Command, o *mcpOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.recall("mcp", o.Accept); err != nil {
		return err
	}
	if err := o.settle(func(name string) bool { return isSet(cmd.Flags(), name) }); err != nil {
		return err
	}
	if !o.DryRun {
		if err := o.checkOut(); err != nil {
			return err
		}
	}
	p, err := planMCP(cmd.Context(), o, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer p.close()
	if o.DryRun {
		return p.dryRun(cmd.OutOrStdout())
	}
	return p.begin(cmd)
}

// check looks for what cannot be meant, before anything is started.
func (o *mcpOptions) check() error {
	switch {
	case len(o.Command) == 0:
		return usage("for example: teasel mcp -- node server.js\nhint: to try teasel without a server of your own: teasel demo", "no server to fuzz: its command goes behind --")
	case o.MutateRatio < 0 || o.MutateRatio > 1:
		return usage("", "--mutate-ratio %v: expected 0 to 1", o.MutateRatio)
	case o.Window < 0:
		return usage("", "--window %d: expected 0 or more", o.Window)
	case o.Slow < 0:
		return usage("", "--slow %v: expected 0 or more", o.Slow)
	case o.StartTimeout < 0:
		return usage("", "--start-timeout %v: expected 0 or more", o.StartTimeout)
	}
	others := len(o.Mutations) == 0
	for _, name := range o.Mutations {
		m, err := mcp.ParseMutation(name)
		if err != nil {
			return usage("the mutations: "+mutationNames(), "--mutation: %w", err)
		}
		others = others || m != mcp.ConnectionDrop
	}
	if !others { // it is for scripts with a process of their own, and those are few
		return usage("name another one beside it", "--mutation %v leaves nothing to do for most scripts", mcp.ConnectionDrop)
	}
	return errors.Join(o.options.check(), o.launch.check())
}

func mutationNames() string {
	var names []string
	for _, m := range mcp.Mutations() {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// settle fills in what the user has left open, from the profile.
func (o *mcpOptions) settle(set func(flag string) bool) error {
	profile, err := mcp.ParseProfile(o.profileName())
	if err != nil {
		return usage("", "%w", err)
	}
	o.options.settle(set, preset{profile.Duration, profile.Timeout, profile.Seed, profile.Memory})
	if o.Mode == "" {
		o.Mode = "mixed"
	}
	return nil
}

// profile returns the profile with what the user has changed of it.
func (o *mcpOptions) profile() mcp.Profile {
	p, _ := mcp.ParseProfile(o.Profile) // settle has tried
	if o.MutateRatio > 0 {
		p.MutateRatio = o.MutateRatio
	}
	switch o.Mode {
	case "conform":
		p.Adversarial = -1
	case "adversarial":
		p.Adversarial = 100
	}
	if len(o.Mutations) > 0 {
		weights := map[mcp.Mutation]int{}
		for _, m := range mcp.Mutations() {
			weights[m] = 0
		}
		for _, name := range o.Mutations {
			m, _ := mcp.ParseMutation(name) // check has tried
			weights[m] = max(m.Weight(), 1)
		}
		p.Weights = weights
	}
	return p
}

// mcpPlan is a plan with what is particular to servers.
type mcpPlan struct {
	plan[mcp.Script]
	session *mcp.Session
	choice  mcp.Choice
	remains remains
	ending  sync.WaitGroup // of the server that was asked what there is
}

func (p *mcpPlan) close() {
	p.ending.Wait()
	p.remains.close()
}

// planMCP asks the server what there is and makes a campaign of it. What the user may have got wrong is looked at first.
func planMCP(ctx context.Context, o *mcpOptions, stderr io.Writer) (_ *mcpPlan, err error) {
	command, err := program(o.Command)
	if err != nil {
		return nil, err
	}
	dictionary, err := loadDictionaries(mcp.DefaultDictionary(), o.Dict, stderr)
	if err != nil {
		return nil, err
	}
	given, err := loadCorpus(o.Corpus, teasel.Codec[mcp.Script](mcp.Codec{}), stderr)
	if err != nil {
		return nil, err
	}
	p := &mcpPlan{}
	target := &mcp.Target{Command: command, Env: environment(o.Env), Dir: o.Dir, Timeout: o.Timeout, StartTimeout: o.StartTimeout,
		Version: o.Protocol, Window: o.Window, Exact: o.Runs > 0}
	if o.Workers > 1 { // each has its own
		target.Spares = 1
	}
	p.remains.guard(stderr)
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	visit, err := target.Visit(ctx)
	if err != nil {
		return nil, cutShort(ctx, err)
	}
	defer func() {
		if err != nil {
			visit.Close()
			return
		}
		p.ending.Go(visit.Close) // the campaign need not wait for it
	}()
	p.session = visit.Session
	target.Session = p.session
	if err := p.choose(o, stderr); err != nil {
		return nil, err
	}
	target.Blocked, target.Excluded, target.Withheld = p.choice.Blocks, p.choice.Excludes, new(mcp.Withheld)
	spread := new(mcp.Spread)
	p.complete = func(run *report.Run) {
		run.Skipped = append(slices.Clone(run.Skipped), withheld(target.Withheld)...)
		run.Summary.Findings = slices.Clone(run.Summary.Findings)
		for i := range run.Summary.Findings {
			spread.Describe(&run.Summary.Findings[i])
		}
	}
	if !o.DryRun {
		warnBlocked(stderr, o.Command, &p.choice)
		if err := visit.Learn(ctx, &p.choice); err != nil {
			return nil, cutShort(ctx, err)
		}
		p.remains.place(target, o.Env, stderr)
	}
	mutator, err := p.prepare(ctx, o, dictionary, given)
	if err != nil {
		return nil, cutShort(ctx, err)
	}
	p.campaign = mcp.Campaign(target, mutator, mcp.DetectorConfig{Slow: o.Slow, Spread: spread})
	return p, nil
}

// prepare makes the mutator and the inputs to begin with.
func (p *mcpPlan) prepare(ctx context.Context, o *mcpOptions, dictionary *mutate.Dictionary, given []seed[mcp.Script]) (*mcp.Mutator, error) {
	mutator, err := mcp.NewMutatorContext(ctx, mcp.MutatorConfig{Session: p.session, Choice: &p.choice, Dictionary: dictionary, Profile: o.profile()})
	if err != nil {
		return nil, err
	}
	for _, s := range mutator.Skipped() {
		p.meta.Skipped = append(p.meta.Skipped, corpus.Skip(s))
	}
	p.options, p.rules, p.severity = &o.options, mcp.Rules(), o.Severity
	if err := p.describe(o); err != nil {
		return nil, err
	}
	return mutator, p.sow(ctx, mutator, given)
}

// choose says which of the server's tools are called, and what is odd about the server.
func (p *mcpPlan) choose(o *mcpOptions, stderr io.Writer) (err error) {
	if p.session.Direct != nil {
		fmt.Fprintf(stderr, "teasel: %s takes its time: further processes are started directly, with %s\n", o.Command[0],
			report.Line(strings.Join(p.session.Direct, " ")))
	}
	for _, t := range p.session.Trouble {
		fmt.Fprintf(stderr, "teasel: warning: %s\n", report.Line(t))
	}
	selection := mcp.Selection{Include: o.Include, Exclude: o.Exclude, Allow: o.Allow, Patterns: o.Destructive, Strict: o.Strict}
	if p.choice, err = selection.Apply(p.session); err != nil {
		return usage("--include, --exclude and --allow take globs such as 'read_*', --destructive a regular expression such as '^drop'", "%w", err)
	}
	for _, glob := range p.choice.Idle {
		fmt.Fprintf(stderr, "teasel: warning: no tool matches %q\n", glob)
	}
	for _, b := range p.choice.Blocked {
		p.meta.Blocked = append(p.meta.Blocked, b.Name)
	}
	return nil
}

// maxNamedBlocked is how many blocked tools are named at the beginning; the report names all.
const maxNamedBlocked = 5

// warnBlocked says at once what will not be fuzzed. Where no tool is left the line is complete that allows them.
func warnBlocked(w io.Writer, command []string, c *mcp.Choice) {
	n := len(c.Blocked)
	if n == 0 {
		return
	}
	var names []string
	for _, b := range c.Blocked[:min(n, maxNamedBlocked)] {
		names = append(names, report.Line(b.Name))
	}
	if n > maxNamedBlocked {
		names = append(names, "...")
	}
	fmt.Fprintf(w, "teasel: %d of %d tools are not called, because they may change something that outlives the server: %s (%s: %s)\n", n, n+len(c.Tools),
		strings.Join(names, ", "), names[0], report.Line(c.Blocked[0].Why))
	if len(c.Tools) > 0 {
		fmt.Fprintln(w, "hint: --allow NAME fuzzes one all the same, --allow '*' all of them, in a place where they can do no harm")
		return
	}
	fmt.Fprintln(w, "teasel: warning: no tool is left to call; only the protocol is fuzzed")
	fmt.Fprintf(w, "hint: to fuzz the tools, in a place where they can do no harm: teasel mcp %s -- %s\n", allowFlags(c.Blocked), quoted(command))
}

// quoted is a command as one types it.
func quoted(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = report.Quote(w)
	}
	return strings.Join(words, " ")
}

// allowFlags are the flags that allow these tools, by name as long as that fits on a line.
func allowFlags(blocked []mcp.Blocked) string {
	if len(blocked) > 2*maxNamedBlocked {
		return "--allow '*'"
	}
	var flags []string
	for _, b := range blocked {
		flags = append(flags, "--allow "+report.Quote(globOf(b.Name)))
	}
	return strings.Join(flags, " ")
}

// globOf returns the glob that matches one name and no other.
func globOf(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// withheld says which lines were not sent because of the tools they name.
func withheld(w *mcp.Withheld) (skips []report.Skip) {
	for tool, n := range w.Lines() {
		skips = append(skips, report.Skip{Subject: "tools/call " + tool, Reason: fmt.Sprintf("%d lines were not sent, because they name the tool", n)})
	}
	return skips
}

// describe fills in what the campaign's directory says of it.
func (p *mcpPlan) describe(o *mcpOptions) (err error) {
	m := &p.meta
	m.Version, m.Kind, m.Name, m.Seed, m.Extension = version, "mcp", strings.Join(o.Command, " "), o.Seed, ".json"
	m.Crashes, m.Hangs = mcp.CrashRules(), mcp.HangRules()
	for _, t := range p.choice.Tools {
		m.Subjects = append(m.Subjects, "tools/call "+t.Name)
	}
	if m.Options, err = rawJSON(o); err != nil {
		return err
	}
	var never []string
	for _, t := range p.session.Tools {
		if p.choice.Blocks(t.Name) {
			never = append(never, t.Name)
		}
	}
	m.Target, err = rawJSON(mcpTarget{Command: o.Command, Env: o.Env, Dir: o.Dir, Version: o.Protocol, Timeout: o.Timeout,
		StartTimeout: o.StartTimeout, Blocked: never, Slow: o.Slow})
	return err
}

// sow gathers the inputs to begin with: our own first, then those of the user.
func (p *mcpPlan) sow(ctx context.Context, mutator *mcp.Mutator, given []seed[mcp.Script]) error {
	seeds, err := mutator.SeedsContext(ctx)
	if err != nil {
		return err
	}
	for _, s := range seeds {
		folder := corpus.EdgeCases
		if s.Valid {
			folder = corpus.Valid
		}
		p.seeds = append(p.seeds, seed[mcp.Script]{folder, s.Name, s.Script})
	}
	p.seeds = append(p.seeds, given...)
	return nil
}

func (p *mcpPlan) dryRun(w io.Writer) error {
	s := p.session
	fmt.Fprintf(w, "%s speaks protocol version %s\n", report.Line(p.meta.Name), report.Line(s.Version))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { // what servers call things may be anything
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
	for _, k := range p.meta.Skipped {
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
	return failure(t.Flush())
}

// resumeMCP carries a campaign on. set tells which flags were given anew.
func resumeMCP(cmd *cobra.Command, dir *corpus.Dir, change func(*options)) error {
	var o mcpOptions
	err := stored(dir, &o)
	if err == nil {
		err = inherited(o.Env)
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	change(&o.options)
	p, err := planMCP(cmd.Context(), &o, cmd.ErrOrStderr())
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	defer p.close()
	return p.resume(cmd, dir)
}
