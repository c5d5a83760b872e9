// Package netserver is the verb net: it fuzzes a server of a network protocol, runs the findings of one, and writes and checks models.
package netserver

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// options are the flags of teasel net. They are stored with the campaign.
type options struct {
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

	keepSet bool // the user has said whether dialogues share a connection
}

// NewCommand returns the verb net.
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
		RunE: campaign.RunE("net", o),
	}
	cmd.AddCommand(newCheck(), newNew(), newImport())
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

// Prepare implements [campaign.Verb].
func (o *options) Prepare(set func(flag string) bool, _ io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	o.SetDefaults(set, "net")
	o.keepSet = set("keep")
	return nil
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
	return o.mutation.check()
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
