// Package netserver is the verb net: it fuzzes a server of a network protocol, runs the findings of one, and writes and checks models.
package netserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// options are the flags of teasel net. They are stored with the campaign.
type options struct {
	flags.Options
	flags.Launch
	mutation
	Model       string        `json:"model,omitempty"`
	Connect     string        `json:"connect,omitempty"`
	Keep        bool          `json:"keep,omitempty"`
	Captures    []string      `json:"pcap,omitempty"`
	User        string        `json:"user,omitempty"`
	Start       time.Duration `json:"start_timeout,omitempty"`
	MemoryLimit flags.Size    `json:"memory_limit,omitempty"`
	Restart     uint64        `json:"restart_every,omitempty"`
	Reset       string        `json:"reset,omitempty"`
	Health      string        `json:"health,omitempty"`
	Strict      bool          `json:"strict,omitempty"`
	Order       string        `json:"order,omitempty"`
	State       string        `json:"state,omitempty"`
}

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

// Kind is the kind of servers of network protocols.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "net", NewReplayer: newReplayer, Resume: resume, Script: standalone, Coverage: coverage, Panels: panels}
}

func NewCommand() *cobra.Command {
	o := &options{}
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
  teasel net --model mqtt --connect 127.0.0.1:{port} -- ./mosquitto -c mosquitto.conf -p {port}
  teasel net --model thermostat.yaml --connect 127.0.0.1:4000 -- ./thermostatd
  teasel net --model dns --connect udp://127.0.0.1:{port} -- dnsmasq -k -p {port}
  teasel net --pcap session.pcap --connect 127.0.0.1:2121 -- ./ftpd -p 2121`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Configure(cmd, "net", args); err != nil {
				return err
			}
			return run(cmd, o)
		},
	}
	cmd.AddCommand(newCheck(), newNew(), newImport())
	flags.AddOptions(cmd, &o.Options)
	flags.AddLaunch(cmd, &o.Launch, "server", "{dir}")
	f := cmd.Flags()
	f.StringVar(&o.Model, "model", "", "description of the protocol: a file, or one of "+strings.Join(model.Protocols(), ", ")+"; 'teasel net new' writes one to begin with")
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
	addMutation(f, &o.mutation)
	f.BoolVar(&o.Strict, "strict", false, "a response that breaks the model is a finding")
	flags.SetGroup(f, "Server", "env", "dir", "connect", "user", "start-timeout", "memory-limit", "restart-every", "reset", "health")
	return cmd
}

func run(cmd *cobra.Command, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.LoadBaseline("net", o.Accept); err != nil {
		return err
	}
	profile, err := netproto.ParseProfile(o.ProfileName())
	if err != nil {
		return exit.Usage("", "%w", err)
	}
	o.SetDefaults(func(name string) bool { return flags.IsSet(cmd.Flags(), name) },
		flags.Preset{Duration: profile.Duration, Timeout: profile.Timeout, Seed: profile.Seed, Memory: profile.Memory})
	if !o.DryRun {
		if err := o.CheckOut(); err != nil {
			return err
		}
	}
	p, err := newPlan(cmd.Context(), o, flags.IsSet(cmd.Flags(), "keep"), cmd.ErrOrStderr(), nil)
	if err != nil {
		return err
	}
	if o.DryRun {
		return p.dryRun(cmd.OutOrStdout())
	}
	p.introduce(cmd.ErrOrStderr())
	return p.Begin(cmd)
}

// check refuses values that make no sense, before anything is started.
func (o *options) check() error {
	if o.Connect == "" && o.Model == "" {
		return exit.Usage("for example: teasel net --connect 127.0.0.1:{port} -- mosquitto -p {port}", "where the server listens is missing: --connect says so")
	}
	if o.Connect != "" {
		a, err := conn.ParseAddress(o.Connect)
		if err != nil {
			return exit.Usage("for example 127.0.0.1:1883, or 127.0.0.1:{port} with {port} in the command", "--connect: %w", err)
		}
		if len(o.Command) == 0 && a.Own() {
			return exit.Usage("name the port of the server, or give its command behind --", "--connect %s: without a command nobody fills that in", o.Connect)
		}
	}
	if o.User != "" {
		if _, err := conn.LookUpUser(o.User); err != nil {
			return exit.Usage("--user names a user of this machine, by name or number", "--user %s: there is no such user", o.User)
		}
	}
	if o.Model == "" && o.Strict {
		return exit.Usage("add --model FILE", "--strict: without a model no response can break it")
	}
	if o.Model == "" && o.State != "" {
		return exit.Usage("add --model FILE", "--state %s: without a model there are no states", o.State)
	}
	return errors.Join(o.Options.Check(), o.Launch.Check(), o.mutation.check())
}

// plan is the plan of a campaign on a server.
type plan struct {
	campaign.Plan[*dialogue.Dialogue]
	about    netproto.Server
	given    bool // the user has given inputs
	captured int  // seeds that are from captures
}

// target returns the target that is described.
func (t *Target) target() (netproto.Target, error) {
	out := netproto.Target{Address: t.Connect, Command: t.Command, Env: flags.Environment(t.Env), Dir: t.Dir, User: t.User, Keep: t.Keep, Timeout: t.Timeout,
		Start: t.Start, Memory: uint64(t.Memory), Strict: t.Strict, Reset: shell(t.Reset), Health: shell(t.Health), Sandbox: t.Sandbox, Allow: t.Allowed}
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

// shell returns the command that runs a command line.
func shell(line string) []string {
	if line == "" {
		return nil
	}
	return []string{"sh", "-c", line}
}

// newPlan inspects the server and prepares its campaign.
// leave is called before another process takes over, for a sandbox; it may be nil.
func newPlan(ctx context.Context, o *options, keepSet bool, stderr io.Writer, leave func() error) (*plan, error) {
	p := &plan{}
	nt := Target{Command: o.Command, Env: o.Env, Dir: o.Dir, Connect: o.Connect, Model: o.Model, Keep: o.Keep, User: o.User, Timeout: o.Timeout,
		Start: o.Start, Memory: o.MemoryLimit, Reset: o.Reset, Health: o.Health, Strict: o.Strict, Isolation: o.Isolation}
	if _, builtIn := model.Protocol(o.Model); !builtIn && o.Model != "" {
		nt.Model = absolutePath(o.Model)
	}
	target, err := nt.target()
	if err != nil {
		return nil, err
	}
	if m := target.Model; m != nil && o.Connect == "" {
		if m.Connection.Port == 0 {
			return nil, exit.Usage("add --connect HOST:PORT", "where the server listens is missing: the model names no port")
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
	dictionary, err := campaign.LoadDictionaries(&mutate.Dictionary{}, o.Dict, stderr)
	if err != nil {
		return nil, err
	}
	mutator, err := o.mutator(target.Model, dictionary, &o.Mutation)
	if err != nil {
		return nil, err
	}
	if err := p.loadSeeds(o, target, stderr); err != nil {
		return nil, err
	}
	if target.Scratch, err = campaign.Isolate(ctx, &o.Isolation, o.Scratch, stderr, leave); err != nil {
		return nil, err
	}
	if err := p.inspect(ctx, o, &target); err != nil {
		return nil, err
	}
	p.Options, p.Kind, p.Severity = &o.Options, Kind(), o.Severity
	p.Campaign = netproto.Campaign(target, mutator)
	if schedulers != nil {
		p.Campaign.NewScheduler = schedulers
	}
	profile, _ := netproto.ParseProfile(o.ProfileName()) // run has checked it
	p.Campaign.MinimizeRuns = profile.Minimize
	if err := campaign.Switch(&p.Campaign, &o.Mutation); err != nil {
		return nil, err
	}
	p.StuckNote = "nothing that was tried gets another answer: does the server speak this protocol, and does it listen at " + o.Connect + "?"
	p.SilentNote = "the server takes connections, and no answer of it has been seen to any message: does it speak this protocol, and does it listen at " + o.Connect + "?"
	if target.Model != nil {
		p.SilentNote = "the server takes connections, and no answer of it has been seen that the model knows: 'teasel net check MODEL' shows what is sent; does the server speak this protocol?"
	}
	p.Answered = func(fs teasel.FeatureSet) bool { return netproto.Answered(target.Model, fs) }
	return p, p.describe(o, nt)
}

// inspect starts the server once, and finds out how many workers there can be and whether their servers need network namespaces.
func (p *plan) inspect(ctx context.Context, o *options, t *netproto.Target) (err error) {
	t.Namespace = o.Workers > 1
	if p.about, err = t.Inspect(ctx); err != nil {
		return exit.InterruptedOr(ctx, err)
	}
	t.Namespace = p.about.Namespace
	if o.Workers > 1 && !p.about.Own {
		p.about.Warnings = append(p.about.Warnings, fmt.Sprintf("there is 1 worker, and not the %d of --workers", o.Workers))
		o.Workers = 1
	}
	return nil
}

// schedulers returns what makes schedulers with the order of --order and --state; nil: neither is set.
func (o *options) schedulers(m *model.Model) (func() teasel.Scheduler, error) {
	s := dialogue.Selection{Model: m, State: o.State}
	switch {
	case o.State == "" && o.Order == "":
		return nil, nil
	case o.State != "" && o.Order == "":
		s.Order = dialogue.Targeted
	default:
		i := slices.IndexFunc(dialogue.Orders(), func(d dialogue.Order) bool { return d.String() == o.Order })
		if i < 0 {
			return nil, exit.Usage("for example --order depth", "--order %s: expected rare, unvisited, breadth, depth or targeted", o.Order)
		}
		s.Order = dialogue.Orders()[i]
	}
	if (s.Order == dialogue.Targeted) != (o.State != "") {
		return nil, exit.Usage("for example --state connected", "--order targeted and --state go together")
	}
	if o.State != "" && (m == nil || !slices.ContainsFunc(m.States, func(st *model.State) bool { return st.Name == o.State })) {
		return nil, exit.Usage("'teasel net check MODEL' lists the states", "--state %s: the model has no such state", o.State)
	}
	return s.NewScheduler, nil
}

// describe fills in what is written to campaign.json.
func (p *plan) describe(o *options, t Target) (err error) {
	m := &p.Meta
	m.Version, m.Kind, m.Name, m.Seed = campaign.Version, "net", strings.Join(o.Command, " "), o.Seed
	if m.Name == "" {
		m.Name = o.Connect
	}
	m.Crashes, m.Hangs = netproto.CrashRules(), netproto.HangRules()
	if m.Options, err = campaign.RawJSON(o); err != nil {
		return err
	}
	m.Target, err = campaign.RawJSON(t)
	return err
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

// newReplayer returns what runs inputs on the server of a finding.
func newReplayer(ctx context.Context, raw json.RawMessage, _ io.Writer) (campaign.Replayer, error) {
	var nt Target
	if err := campaign.ReadTarget(raw, &nt); err != nil {
		return nil, err
	}
	if len(nt.Command) > 0 {
		if err := flags.CheckStart(nt.Command, nt.Env); err != nil {
			return nil, err
		}
	}
	target, err := nt.target()
	if err != nil {
		return nil, err
	}
	target.Thorough = true
	if target.Scratch, err = campaign.Isolate(ctx, &nt.Isolation, 0, io.Discard, nil); err != nil {
		return nil, err
	}
	return &replay.Runner[*dialogue.Dialogue]{
		Target: target, Codec: dialogue.Codec{Model: target.Model}, Mutator: newMutator(target.Model, &mutate.Dictionary{}), Detectors: netproto.Detectors(),
	}, nil
}

// resume resumes a campaign.
func resume(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error {
	o := options{mutation: defaultMutation()}
	err := campaign.ReadOptions(dir, &o)
	if err == nil {
		err = flags.CheckInherited(o.Env)
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	change(&o.Options)
	p, err := newPlan(cmd.Context(), &o, true, cmd.ErrOrStderr(), dir.Close)
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	p.introduce(cmd.ErrOrStderr())
	return p.Resume(cmd, dir)
}

// standalone returns a program that shows a finding without teasel.
func standalone(raw json.RawMessage, f *corpus.FindingFile) (string, error) {
	var nt Target
	if err := campaign.ReadTarget(raw, &nt); err != nil {
		return "", err
	}
	target, err := nt.target()
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
