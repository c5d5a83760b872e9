package netserver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
	"github.com/teaselfuzz/teasel/report"
)

// plan is the plan of a campaign on a server.
type plan struct {
	campaign.Plan[*dialogue.Dialogue]
	about    netproto.Server
	given    bool // the user has given inputs
	captured int  // seeds that are from captures
}

// Plan implements [campaign.Verb].
func (o *options) Plan(ctx context.Context, stderr io.Writer, leave func() error) (*campaign.Plan[*dialogue.Dialogue], error) {
	p := &plan{}
	about := Target{Command: o.Command, Env: o.Env, Dir: o.Dir, Connect: o.Connect, Model: o.Model, Keep: o.Keep, User: o.User, Timeout: o.Timeout,
		Start: o.Start, Memory: o.MemoryLimit, Reset: o.Reset, Health: o.Health, Strict: o.Strict, Isolation: o.Isolation}
	if _, builtIn := model.Protocol(o.Model); !builtIn && o.Model != "" {
		about.Model = absolutePath(o.Model)
	}
	target, err := about.server()
	if err != nil {
		return nil, err
	}
	if target.Model != nil {
		if err := o.connection(&target.Model.Connection); err != nil {
			return nil, err
		}
	}
	about.Connect, target.Address, about.Keep, target.Keep = o.Connect, o.Connect, o.Keep, o.Keep
	target.Restart, target.Understood, target.Answers = o.Restart, new(atomic.Uint64), new(netproto.Answers)
	schedulers, err := o.schedulers(target.Model)
	if err != nil {
		return nil, err
	}
	dictionary := &mutate.Dictionary{}
	codec := teasel.Codec[*dialogue.Dialogue](netproto.SeedCodec{Model: target.Model})
	if p.Seeds, target.Scratch, err = campaign.Load(ctx, &o.Launch, codec, dictionary, stderr, leave); err != nil {
		return nil, err
	}
	mutator, err := o.mutator(target.Model, dictionary, &o.Mutation)
	if err != nil {
		return nil, err
	}
	if mutator.Seeds, err = p.addSeeds(o, target); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, o, &target); err != nil {
		return nil, err
	}
	p.Campaign = netproto.Campaign(target, mutator)
	if schedulers != nil {
		p.Campaign.NewScheduler = schedulers
	}
	p.describe(o, target)
	p.Gone, p.Introduce, p.DryRun, p.Sandbox = goneFinding, p.introduce, p.dryRun, about.sandbox(target.Scratch)
	p.Meta.Crashes, p.Meta.Hangs = netproto.CrashRules(), netproto.HangRules()
	if len(o.Command) == 0 {
		p.Meta.Name = o.Connect
	}
	if err := p.Describe(Kind(), &o.Launch, o, about); err != nil {
		p.Close()
		return nil, err
	}
	return &p.Plan, nil
}

// describe has the campaign say what may be wrong with a server that does not answer as it is to.
func (p *plan) describe(o *options, target netproto.Target) {
	p.StuckNote = "nothing that was tried gets another answer: does the server speak this protocol, and does it listen at " + o.Connect + "?"
	silent := "the server takes connections, and no answer of it has been seen to any message: does it speak this protocol, and does it listen at " + o.Connect + "?"
	if target.Model != nil {
		silent = "the server takes connections, and no answer of it has been seen that the model knows: 'teasel net check MODEL' shows what is sent; does the server speak this protocol?"
	}
	p.SilentNote = func() string { return silent + said(target.Answers) }
	p.RefusedNote = func() string {
		n, first := target.Answers.Refused()
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("each of the %d answers so far is an error, the first %q: is the server well, and does it have what it needs, such as a database or a login? What lies behind is not tested", n, first)
	}
	p.Answered = func(fs teasel.FeatureSet) bool { return netproto.Answered(target.Model, fs) }
	p.Complete = func(run *report.Run) {
		s := &run.Summary
		if target.Model != nil && len(target.Model.Responses) > 0 && target.Understood.Load() == 0 && len(s.Findings)+len(s.Unconfirmed) == 0 && p.Campaign.Resume == nil {
			run.Untested = fmt.Sprintf("No response of the server is one that the model of %s expects.", cmp.Or(target.Model.Title, target.Model.ID)) + said(target.Answers)
		}
	}
}

// said says what a server has written that has answered nothing, and what may help, behind another sentence; "": it has answered, or written
// nothing.
func said(a *netproto.Answers) (text string) {
	written, hint := a.Silence()
	if written != "" {
		text = " It has written: " + written
	}
	if hint != "" {
		text += "; " + hint
	}
	return text
}

// connection takes from a model where the server listens and whether connections are kept, unless the user has said so.
func (o *options) connection(c *model.Connection) error {
	if o.Connect == "" {
		if c.Port == 0 {
			return exit.Usage("add --connect HOST:PORT", "where the server listens is missing: the model names no port")
		}
		o.Connect = fmt.Sprintf("%v://127.0.0.1:%d", c.Transport, c.Port)
	}
	if !o.keepSet {
		o.Keep = c.Keep
	}
	return nil
}

// inspect starts the server once, and finds out how many workers there can be and whether their servers need network namespaces.
func (p *plan) inspect(ctx context.Context, o *options, t *netproto.Target) (err error) {
	t.Namespace = o.Workers > 1
	if p.about, err = t.Inspect(ctx); err != nil {
		return exit.InterruptedOr(ctx, err)
	}
	t.Namespace, t.Ready = p.about.Namespace, p.about.Ready
	p.Close = func() { _ = p.about.Ready.Close() } // the campaign has begun with it, or there is none
	if o.Workers > 1 && !p.about.Own {
		p.about.Warnings = append(p.about.Warnings, fmt.Sprintf("there is 1 worker, and not the %d of --workers", o.Workers))
		o.Workers = 1
	}
	return nil
}

// introduce prints what is fuzzed, and warnings about it.
func (p *plan) introduce(w io.Writer) {
	fmt.Fprintf(w, "teasel: %v; %s\n", p.about, p.seedText())
	for _, text := range p.about.Warnings {
		fmt.Fprintf(w, "teasel: warning: %s\n", text)
	}
}

func (p *plan) dryRun(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "server\t%v\n", p.about)
	fmt.Fprintf(t, "seeds\t%s\n", p.seedText())
	fmt.Fprintf(t, "time limit\t%v of processor time for a message\n", p.Options.Timeout)
	for _, text := range p.about.Warnings {
		fmt.Fprintf(t, "warning\t%s\n", text)
	}
	return exit.Failure(t.Flush())
}
