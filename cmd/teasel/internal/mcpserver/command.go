// Package mcpserver is the verb mcp: it fuzzes a server that speaks the Model Context Protocol, and runs the findings of one. It has the
// server of the demo too.
package mcpserver

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// options are the flags of teasel mcp. They are stored with the campaign.
type options struct {
	flags.Launch
	httpOptions
	Include      []string      `json:"include,omitempty"`
	Exclude      []string      `json:"exclude,omitempty"`
	MaxTools     int           `json:"max_tools,omitempty"`
	Allow        []string      `json:"allow,omitempty"`
	Destructive  []string      `json:"destructive,omitempty"`
	Mode         string        `json:"mode"`
	MutateRatio  float64       `json:"mutate_ratio"` // negative: none; 0: the profile's
	Protocol     string        `json:"protocol_version,omitempty"`
	Era          string        `json:"era,omitempty"`
	Mutations    []string      `json:"mutations,omitempty"`
	Window       int           `json:"window,omitempty"`
	StartTimeout time.Duration `json:"start_timeout,omitempty"`
	Strict       bool          `json:"strict,omitempty"`
	Slow         time.Duration `json:"slow,omitempty"`

	FailOnSDK teasel.Severity `json:"fail_on_sdk,omitempty"`
	Rate      int             `json:"rate,omitempty"`
	Compare   string          `json:"compare,omitempty"`
}

// NewCommand returns the verb mcp.
func NewCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "mcp [flags] [--url URL] [-- COMMAND [ARG...]]",
		Short: "Fuzz a server that speaks the Model Context Protocol",
		Long: `Fuzz a server that speaks the Model Context Protocol, over standard input and output or, with --url, over HTTP.

The server is started, asked what it has, and then sent what it may not be ready for: every method, not only tool
calls, in arguments that follow its schemas or break them, in messages that are almost right, in sequences, and many
at once. What it answers guides what is sent next. Each finding is reproduced on a fresh server, made as small as it
gets, and written to a file that 'teasel repro' takes.

Tools that may change something that outlives the server are not called unless --allow names them; --dry-run shows
which those are, and why.`,
		Example: `  teasel mcp -- npx -y @modelcontextprotocol/server-everything
  teasel mcp --include 'read_*' --duration 30s -- node server.js /tmp/sandbox
  teasel mcp --dry-run -- python3 server.py
  teasel mcp --url http://127.0.0.1:8080/mcp --header 'Authorization: Bearer ${TOKEN}'
  teasel mcp --url 'http://127.0.0.1:{port}/mcp' --env 'PORT={port}' -- node server.js
  teasel mcp --url 'http://127.0.0.1:{port}/mcp' --compare './server --stdio' -- ./server --http '{port}'
  teasel mcp --profile ci --format sarif -- ./server > teasel.sarif`,
		RunE: campaign.RunE("mcp", o),
	}
	flags.AddLaunch(cmd, &o.Launch, "server", "this one")
	o.httpOptions.add(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&o.Include, "include", nil, "glob of the tools to call; may be given several times (default: all)")
	f.StringArrayVar(&o.Exclude, "exclude", nil, "glob of tools to leave out; may be given several times")
	f.IntVar(&o.MaxTools, "max-tools", 0, "most tools to call, the first by name of those that may be called; 0: no limit")
	f.StringArrayVar(&o.Allow, "allow", nil, "glob of tools that are called though they may change something lasting; may be given several times")
	f.BoolVar(&o.Strict, "strict", false, "call only tools whose annotations say that they destroy nothing")
	f.StringArrayVar(&o.Destructive, "destructive", nil, "regular expression of names of tools that are not called unless they have annotations; may be given several times")
	f.DurationVar(&o.Slow, "slow", 0, "report answers that take longer; 0: 2s")
	f.Var(flags.Choice(&o.Mode, []string{"mixed", "conform", "adversarial"}), "mode", "how generated arguments treat the tools' schemas (default mixed)")
	f.Float64Var(&o.MutateRatio, "mutate-ratio", 0, "share of inputs made by changing what was kept, the rest is made from nothing; 0 to 1 (default: the profile's)")
	f.StringVar(&o.Protocol, "protocol-version", "", "protocol version to ask for, 2026-07-28 without a handshake (default: the newest with one)")
	f.Var(flags.Choice(&o.Era, []string{"auto", "handshake", "stateless"}), "era", "protocol versions with the initialize handshake, or 2026-07-28 without one; auto: that with the handshake, and the other if the server refuses it (default auto)")
	f.StringArrayVar(&o.Mutations, "mutation", nil, "mutation to use, by name; may be given several times (default: all that the profile has)")
	f.IntVar(&o.Window, "window", 0, "requests in flight; 0: 64")
	f.IntVar(&o.Rate, "rate", 0, "most requests a second, of all workers together; 0: no limit")
	f.StringVar(&o.Compare, "compare", "", "the same server over another transport, whose answers are compared: its command over standard input and output, words separated by spaces (quotes have no meaning), or its URL")
	f.DurationVar(&o.StartTimeout, "start-timeout", 0, "time for the server to start and answer initialize; 0: 30s")
	o.FailOnSDK = teasel.High
	f.Var(flags.Severity(&o.FailOnSDK), "fail-on-sdk", "the same for what the SDK does that the server is built on, and no tool of it")
	flags.SetGroup(f, "Tools", "include", "exclude", "allow", "strict", "destructive")
	return cmd
}

// check refuses values that make no sense, before anything is started.
func (o *options) check() error {
	switch {
	case len(o.Command) == 0 && o.URL == "":
		return exit.Usage("for example: teasel mcp -- node server.js\nhint: to try teasel without a server of your own: teasel demo", "no server to fuzz: its command goes behind --")
	case o.MaxTools < 0:
		return exit.Usage("", "--max-tools %d: expected 0 or more", o.MaxTools)
	case o.MutateRatio < 0 || o.MutateRatio > 1:
		return exit.Usage("", "--mutate-ratio %v: expected 0 to 1", o.MutateRatio)
	}
	if stateless := o.Protocol == session.StatelessVersion; stateless && o.Era == "handshake" || !stateless && o.Protocol != "" && o.Era == "stateless" {
		return exit.Usage("leave one of them out", "--protocol-version %s with --era %s: only version %s has no handshake", o.Protocol, o.Era, session.StatelessVersion)
	} else if stateless {
		o.Era = "stateless"
	}
	if all := append(slices.Clone(session.Versions), session.StatelessVersion); o.Protocol != "" && !slices.Contains(all, o.Protocol) {
		return exit.Usage("the versions: "+strings.Join(all, ", "), "--protocol-version %s: there is no such version", o.Protocol)
	}
	if err := o.httpOptions.check(o.Command, o.Env); err != nil {
		return err
	}
	if err := o.checkCompare(); err != nil {
		return err
	}
	others := len(o.Mutations) == 0
	for _, name := range o.Mutations {
		m, err := gen.ParseMutation(name)
		if err != nil {
			return exit.Usage("the mutations: "+mutationNames(), "--mutation: %w", err)
		}
		others = others || m != gen.ConnectionDrop
	}
	if !others { // it applies only to scripts with a process of their own, which are few
		return exit.Usage("name another one beside it", "--mutation %v leaves nothing to do for most scripts", gen.ConnectionDrop)
	}
	return nil
}

func mutationNames() string {
	var names []string
	for _, m := range gen.Mutations() {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// Prepare implements [campaign.Verb].
func (o *options) Prepare(set func(flag string) bool, _ io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	o.SetDefaults(set, "mcp")
	if o.Mode == "" {
		o.Mode = "mixed"
	}
	if o.MutateRatio == 0 && set("mutate-ratio") {
		o.MutateRatio = -1 // as profiles have it
	}
	return nil
}

// profile returns the profile with the changes that flags make to it.
func (o *options) profile() (p gen.Profile, err error) {
	p, _ = gen.ParseProfile(o.ProfileName()) // they have the same names
	if o.MutateRatio != 0 {
		p.MutateRatio = o.MutateRatio
	}
	switch o.Mode {
	case "conform":
		p.Adversarial = -1
	case "adversarial":
		p.Adversarial = 100
	}
	if len(o.Mutations) > 0 {
		weights := map[gen.Mutation]int{}
		for _, m := range gen.Mutations() {
			weights[m] = 0
		}
		for _, name := range o.Mutations {
			m, _ := gen.ParseMutation(name) // check has checked it
			weights[m] = max(m.Weight(), 1)
		}
		p.Weights = weights
	}
	var own map[gen.Mutation]int
	if p.ByteWeights, own, err = flags.OwnWeights(&o.Mutation, gen.Mutations()); err != nil {
		return p, err
	}
	p.BitRatio, p.ByteRatio = o.BitRatio, o.ByteRatio
	if len(own) > 0 {
		weights := map[gen.Mutation]int{} // the profile's map is shared
		maps.Copy(weights, p.Weights)
		maps.Copy(weights, own)
		p.Weights = weights
	}
	return p, nil
}
