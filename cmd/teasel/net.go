package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// netOptions are the flags of teasel net. They are stored with the campaign.
type netOptions struct {
	options
	launch
	netMutation
	Model       string        `json:"model,omitempty"`
	Connect     string        `json:"connect,omitempty"`
	Keep        bool          `json:"keep,omitempty"`
	Captures    []string      `json:"pcap,omitempty"`
	User        string        `json:"user,omitempty"`
	Start       time.Duration `json:"start_timeout,omitempty"`
	MemoryLimit size          `json:"memory_limit,omitempty"`
	Restart     uint64        `json:"restart_every,omitempty"`
	Reset       string        `json:"reset,omitempty"`
	Health      string        `json:"health,omitempty"`
	Strict      bool          `json:"strict,omitempty"`
	Order       string        `json:"order,omitempty"`
	State       string        `json:"state,omitempty"`
}

// netTarget is what a finding's file says of its server: all that it takes to start it again.
type netTarget struct {
	Command []string      `json:"command,omitempty"`
	Env     []string      `json:"env,omitempty"`
	Dir     string        `json:"dir,omitempty"`
	Connect string        `json:"connect"`
	Model   string        `json:"model,omitempty"`
	Keep    bool          `json:"keep,omitempty"`
	User    string        `json:"user,omitempty"`
	Timeout time.Duration `json:"timeout"`
	Start   time.Duration `json:"start_timeout,omitempty"`
	Memory  size          `json:"memory_limit,omitempty"`
	Reset   string        `json:"reset,omitempty"`
	Health  string        `json:"health,omitempty"`
	Strict  bool          `json:"strict,omitempty"`
}

func newNet() *cobra.Command {
	o := &netOptions{}
	cmd := &cobra.Command{
		Use:   "net [flags] --connect HOST:PORT [-- COMMAND [ARG...]]",
		Short: "Fuzz a server of a network protocol",
		Long: `Fuzz a server of any network protocol. With --model the messages, their fields and the states of the protocol are known;
without, messages are bytes, for a first look.

The command behind -- starts the server. In it, and in --connect, {port} stands for a free port, {dir} for an empty folder and
{socket} for the path of a Unix socket, which each worker's server has for itself; as root, the server runs as nobody. Where
the port is fixed and there are several workers, each worker's server has a network namespace of its own, if teasel may make
one. Without a command a server that is running already is fuzzed; it can be neither watched nor started again. Nothing is
ever sent to another address than the one that --connect names.

A server that was built with teasel's compiler (CC='teasel cc' ./configure && make) or AFL++'s says what a dialogue
reaches in it. Of any other the states and the kinds of its responses guide what is tried next.`,
		Example: `  teasel net --connect 127.0.0.1:{port} -- mosquitto -p {port}
  teasel net --model mqtt.yaml --connect 127.0.0.1:{port} -- ./mosquitto -c mosquitto.conf -p {port}
  teasel net --model dns.yaml --connect udp://127.0.0.1:{port} -- dnsmasq -k -p {port}
  teasel net --pcap session.pcap --connect 127.0.0.1:2121 -- ./ftpd -p 2121`,
		RunE: func(cmd *cobra.Command, args []string) error {
			table := func(c *config) (any, []string) { return &c.Net, c.Net.Command }
			if err := o.configure(cmd, args, table); err != nil {
				return err
			}
			return runNet(cmd, o)
		},
	}
	cmd.AddCommand(newNetCheck(), newNetNew(), newNetImport())
	addOptions(cmd, &o.options)
	addLaunch(cmd, &o.launch, "server")
	f := cmd.Flags()
	f.StringVar(&o.Model, "model", "", "description of the protocol; 'teasel net new' writes one to begin with")
	f.StringVar(&o.Connect, "connect", "", "where the server listens: HOST:PORT, udp://HOST:PORT, tls://HOST:PORT, unix:PATH or stdio")
	f.BoolVar(&o.Keep, "keep", false, "dialogues share one connection as long as it holds (default: as the model says, or a new one for each)")
	f.StringArrayVar(&o.Captures, "pcap", nil, "pcap or pcapng file whose dialogues with the server's port are seeds, FILE or FILE:PORT; may be given several times")
	f.StringVar(&o.User, "user", "", "user that the server runs as (default: nobody if we are root, or else ourselves)")
	f.DurationVar(&o.Start, "start-timeout", 0, "how long the server may take until it listens; 0: 10s")
	f.Var(&o.MemoryLimit, "memory-limit", "memory that the server may hold; 0: 2GiB")
	f.Uint64Var(&o.Restart, "restart-every", 0, "dialogues after which the server is started anew; 0: only when it has to be")
	f.StringVar(&o.Reset, "reset", "", "command that makes the server as it was in the beginning, in place of starting it anew")
	f.StringVar(&o.Health, "health", "", "command that ends with status 0 while the server is well")
	f.StringVar(&o.Order, "order", "", "state to work on next: rare, unvisited, breadth, depth, targeted (default rare; needs a model with states to be of use)")
	f.StringVar(&o.State, "state", "", "state that is to be reached and worked on, as the model names it; implies --order targeted")
	addNetMutation(f, &o.netMutation)
	f.BoolVar(&o.Strict, "strict", false, "a response that breaks the model is a finding")
	return cmd
}

func runNet(cmd *cobra.Command, o *netOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.recall("net", o.Accept); err != nil {
		return err
	}
	profile, err := netproto.ParseProfile(o.profileName())
	if err != nil {
		return usage("", "%w", err)
	}
	o.settle(func(name string) bool { return isSet(cmd.Flags(), name) },
		preset{profile.Duration, profile.Timeout, profile.Seed, profile.Memory})
	if !o.DryRun {
		if err := o.checkOut(); err != nil {
			return err
		}
	}
	p, err := planNet(cmd.Context(), o, isSet(cmd.Flags(), "keep"), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.DryRun {
		return p.dryRun(cmd.OutOrStdout())
	}
	p.introduce(cmd.ErrOrStderr())
	return p.begin(cmd)
}

// check looks for what cannot be meant, before anything is started.
func (o *netOptions) check() error {
	if o.Connect == "" && o.Model == "" {
		return usage("for example: teasel net --connect 127.0.0.1:{port} -- mosquitto -p {port}", "where the server listens is missing: --connect says so")
	}
	if o.Connect != "" {
		a, err := conn.ParseAddress(o.Connect)
		if err != nil {
			return usage("for example 127.0.0.1:1883, or 127.0.0.1:{port} with {port} in the command", "--connect: %w", err)
		}
		if len(o.Command) == 0 && a.Own() {
			return usage("name the port of the server, or give its command behind --", "--connect %s: without a command nobody fills that in", o.Connect)
		}
	}
	if o.User != "" {
		if _, err := conn.LookUpUser(o.User); err != nil {
			return usage("--user names a user of this machine, by name or number", "--user %s: there is no such user", o.User)
		}
	}
	if o.Model == "" && o.Strict {
		return usage("add --model FILE", "--strict: without a model no response can break it")
	}
	if o.Model == "" && o.State != "" {
		return usage("add --model FILE", "--state %s: without a model there are no states", o.State)
	}
	return errors.Join(o.options.check(), o.launch.check(), o.netMutation.check())
}

// netPlan is a plan with what is particular to servers.
type netPlan struct {
	plan[*dialogue.Dialogue]
	about netproto.Server
	given bool // there are inputs of the user's
	taken int  // seeds that are from captures
}

// target makes a target of what is stored with a campaign or a finding.
func (t *netTarget) target() (netproto.Target, error) {
	out := netproto.Target{Address: t.Connect, Command: t.Command, Env: environment(t.Env), Dir: t.Dir, User: t.User, Keep: t.Keep, Timeout: t.Timeout,
		Start: t.Start, Memory: uint64(t.Memory), Strict: t.Strict, Reset: shell(t.Reset), Health: shell(t.Health)}
	if t.Model == "" {
		return out, nil
	}
	m, err := model.Load(t.Model)
	if errors.Is(err, fs.ErrNotExist) {
		return out, usage("'teasel net new' writes a model to begin with", "--model %s: there is no such file", t.Model)
	}
	if err != nil {
		return out, usage("'teasel net check "+t.Model+"' says more", "%w", err)
	}
	out.Model = m
	return out, nil
}

// shell is a command line of the user's.
func shell(line string) []string {
	if line == "" {
		return nil
	}
	return []string{"sh", "-c", line}
}

// planNet looks at the server and makes a campaign of it.
func planNet(ctx context.Context, o *netOptions, keepSet bool, stderr io.Writer) (*netPlan, error) {
	p := &netPlan{}
	nt := netTarget{Command: o.Command, Env: o.Env, Dir: o.Dir, Connect: o.Connect, Model: o.Model, Keep: o.Keep, User: o.User, Timeout: o.Timeout,
		Start: o.Start, Memory: o.MemoryLimit, Reset: o.Reset, Health: o.Health, Strict: o.Strict}
	if o.Model != "" {
		nt.Model = absolutePath(o.Model)
	}
	target, err := nt.target()
	if err != nil {
		return nil, err
	}
	if m := target.Model; m != nil && o.Connect == "" {
		if m.Connection.Port == 0 {
			return nil, usage("add --connect HOST:PORT", "where the server listens is missing: the model names no port")
		}
		o.Connect = fmt.Sprintf("%v://127.0.0.1:%d", m.Connection.Transport, m.Connection.Port)
		nt.Connect, target.Address = o.Connect, o.Connect
	}
	if m := target.Model; m != nil && !keepSet {
		o.Keep = m.Connection.Keep
		nt.Keep, target.Keep = o.Keep, o.Keep
	}
	target.Restart = o.Restart
	schedulers, err := o.schedulers(target.Model)
	if err != nil {
		return nil, err
	}
	dictionary, err := loadDictionaries(newDictionary(), o.Dict, stderr)
	if err != nil {
		return nil, err
	}
	mutator, err := o.mutator(target.Model, dictionary)
	if err != nil {
		return nil, err
	}
	if err := p.loadSeeds(o, target, stderr); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, o, &target); err != nil {
		return nil, err
	}
	p.options, p.rules, p.severity = &o.options, netproto.Rules(), o.Severity
	p.campaign = netproto.Campaign(target, mutator)
	if schedulers != nil {
		p.campaign.NewScheduler = schedulers
	}
	profile, _ := netproto.ParseProfile(o.profileName()) // was tried when the campaign was begun
	p.campaign.MinimizeRuns = profile.Minimize
	p.idle = "nothing that was tried gets another answer: does the server speak this protocol, and does it listen at " + o.Connect + "?"
	p.silent = "the server takes connections, and no answer of it has been seen to any message: does it speak this protocol, and does it listen at " + o.Connect + "?"
	if target.Model != nil {
		p.silent = "the server takes connections, and no answer of it has been seen that the model knows: 'teasel net check MODEL' shows what is sent; does the server speak this protocol?"
	}
	p.answered = func(fs teasel.FeatureSet) bool { return netproto.Answered(target.Model, fs) }
	return p, p.describe(o, nt)
}

// inspect starts the server once, and settles how many workers there are and whether their servers need network namespaces.
func (p *netPlan) inspect(ctx context.Context, o *netOptions, t *netproto.Target) (err error) {
	t.Namespace = o.Workers > 1
	if p.about, err = t.Inspect(ctx); err != nil {
		return cutShort(ctx, err)
	}
	t.Namespace = p.about.Namespace
	if o.Workers > 1 && !p.about.Own {
		p.about.Warnings = append(p.about.Warnings, fmt.Sprintf("there is 1 worker, and not the %d of --workers", o.Workers))
		o.Workers = 1
	}
	return nil
}

// schedulers returns what makes schedulers of the order that the user wants; nil: the user does not say.
func (o *netOptions) schedulers(m *model.Model) (func() teasel.Scheduler, error) {
	s := dialogue.Selection{Model: m, State: o.State}
	switch {
	case o.State == "" && o.Order == "":
		return nil, nil
	case o.State != "" && o.Order == "":
		s.Order = dialogue.Targeted
	default:
		i := slices.IndexFunc(dialogue.Orders(), func(d dialogue.Order) bool { return d.String() == o.Order })
		if i < 0 {
			return nil, usage("for example --order depth", "--order %s: expected rare, unvisited, breadth, depth or targeted", o.Order)
		}
		s.Order = dialogue.Orders()[i]
	}
	if (s.Order == dialogue.Targeted) != (o.State != "") {
		return nil, usage("for example --state connected", "--order targeted and --state go together")
	}
	if o.State != "" && (m == nil || !slices.ContainsFunc(m.States, func(st *model.State) bool { return st.Name == o.State })) {
		return nil, usage("'teasel net check MODEL' lists the states", "--state %s: the model has no such state", o.State)
	}
	return s.NewScheduler, nil
}

// describe fills in what the campaign's directory says of it.
func (p *netPlan) describe(o *netOptions, t netTarget) (err error) {
	m := &p.meta
	m.Version, m.Kind, m.Name, m.Seed = version, "net", strings.Join(o.Command, " "), o.Seed
	if m.Name == "" {
		m.Name = o.Connect
	}
	m.Crashes, m.Hangs = netproto.CrashRules(), netproto.HangRules()
	if m.Options, err = rawJSON(o); err != nil {
		return err
	}
	m.Target, err = rawJSON(t)
	return err
}

// introduce says what is fuzzed.
func (p *netPlan) introduce(w io.Writer) {
	fmt.Fprintf(w, "teasel: %v; %s\n", p.about, p.seedText())
	for _, text := range p.about.Warnings {
		fmt.Fprintf(w, "teasel: warning: %s\n", text)
	}
}

func (p *netPlan) dryRun(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "server\t%v\n", p.about)
	fmt.Fprintf(t, "seeds\t%s\n", p.seedText())
	fmt.Fprintf(t, "time limit\t%v of processor time for a message\n", p.options.Timeout)
	for _, text := range p.about.Warnings {
		fmt.Fprintf(t, "warning\t%s\n", text)
	}
	return failure(t.Flush())
}

// netBench makes ready what it takes to run single inputs on the server of a finding.
func netBench(_ context.Context, raw json.RawMessage) (replayer, error) {
	var nt netTarget
	if err := described(raw, &nt); err != nil {
		return nil, err
	}
	if len(nt.Command) > 0 {
		if err := startable(nt.Command, nt.Env); err != nil {
			return nil, err
		}
	}
	target, err := nt.target()
	if err != nil {
		return nil, err
	}
	target.Thorough = true
	return &bench[*dialogue.Dialogue]{
		target: target, codec: dialogue.Codec{Model: target.Model}, mutator: netMutator(target.Model, newDictionary()), detectors: netproto.Detectors(),
	}, nil
}

// resumeNet carries a campaign on.
func resumeNet(cmd *cobra.Command, dir *corpus.Dir, change func(*options)) error {
	o := netOptions{netMutation: usualMutation()}
	err := stored(dir, &o)
	if err == nil {
		err = inherited(o.Env)
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	change(&o.options)
	p, err := planNet(cmd.Context(), &o, true, cmd.ErrOrStderr())
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	p.introduce(cmd.ErrOrStderr())
	return p.resume(cmd, dir)
}

// netScript writes a program that shows a finding without teasel.
func netScript(raw json.RawMessage, f *corpus.FindingFile) (string, error) {
	var nt netTarget
	if err := described(raw, &nt); err != nil {
		return "", err
	}
	target, err := nt.target()
	if err != nil {
		return "", err
	}
	in, err := (dialogue.Codec{Model: target.Model}).Decode(f.Finding.Input)
	if err != nil {
		return "", usage("", "reading the finding's input: %w", err)
	}
	text, err := target.Script(in, fmt.Sprintf("%s, %s: %s", f.Finding.Rule, f.Finding.Subject, f.Finding.Message), netproto.Repetitions(&f.Finding), f.Finding.Detail)
	return text, failure(err)
}
