// Package hub is the verb fleet: it looks at a campaign of many machines on their hub, and tells them what to do.
package hub

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
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
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

func NewCommand() *cobra.Command {
	var hub flags.Hub
	var runs uint64
	cmd := &cobra.Command{
		Use:   "fleet URL [pause|resume|stop|budget|findings DIR]",
		Short: "Look at the machines that fuzz together over a hub, and tell them what to do",
		Long: `Look at a campaign on a hub: each machine with when it was heard last, its figures and its share of the testcases that were shared. pause, resume
and stop are for all machines, those that join later included. budget has them stop when they have made --runs executions together, and
stands until --runs 0. findings writes the fleet's findings to a directory, where 'teasel repro' takes them.`,
		Example: `  teasel fleet nats://127.0.0.1:4222
  teasel fleet nats://127.0.0.1:4222 stop --hub-name mcp-node-server_js
  teasel fleet tls://hub.example.org:4222 --hub-ca ca.pem --hub-creds parser-operator.creds findings from-fleet`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 3 {
				return exit.Usage(flags.SeeHelp(cmd), "fleet takes the address of a hub and at most one order (%d arguments given)", len(args))
			}
			return flags.CheckEmpty(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			hub.URL = args[0]
			order := ""
			if len(args) > 1 {
				order = args[1]
			}
			limit := cmd.Flags().Changed("runs")
			if err := checkOrder(cmd, args); err != nil {
				return err
			}
			switch {
			case order == "findings" && len(args) < 3:
				return exit.Usage("for example 'teasel fleet "+args[0]+" findings from-fleet'", "fleet: findings needs a directory")
			case order != "findings" && len(args) > 2:
				return exit.Usage(flags.SeeHelp(cmd), "fleet: %s takes nothing more (%q)", order, args[2])
			case order == "budget" && !limit:
				return exit.Usage("--runs N, or --runs 0 for no limit", "fleet: budget needs --runs")
			case order != "budget" && limit:
				return exit.Usage("for example 'teasel fleet "+args[0]+" budget --runs 1000000'", "fleet: --runs goes with budget")
			}
			link, err := openFleet(cmd.Context(), &hub)
			if err != nil {
				return err
			}
			defer link.Close()
			return obey(cmd, link, order, args, runs)
		},
	}
	flags.AddHubLogin(cmd.Flags(), &hub)
	cmd.Flags().Uint64Var(&runs, "runs", 0, "with budget: executions of all machines together after which they stop; 0: no limit")
	return cmd
}

// orders are the subcommands that follow the address of the hub.
var orders = [...]string{"pause", "resume", "stop", "budget", "findings"}

// checkOrder refuses what is no order, and a word in the place of the address, which would be looked up as the name of a machine.
func checkOrder(cmd *cobra.Command, args []string) error {
	list := strings.Join(orders[:len(orders)-1], ", ") + " or " + orders[len(orders)-1]
	switch {
	case !strings.ContainsAny(args[0], ".:/") && args[0] != "localhost":
		hint := "for example 'teasel fleet nats://127.0.0.1:4222', which shows the machines; if it is the name of a machine, nats://" + args[0] + ":4222"
		if order := cmp.Or(flags.Nearest(args[0], append([]string{"status"}, orders[:]...)), args[0]); order == "status" {
			hint = "'teasel fleet nats://HOST:4222' shows the status of the machines"
		} else if slices.Contains(orders[:], order) {
			hint = "'teasel fleet nats://HOST:4222 " + order + "'"
		}
		return exit.Usage(hint, "fleet takes the address of a hub first, and %q is none", args[0])
	case len(args) < 2 || slices.Contains(orders[:], args[1]):
		return nil
	}
	hint := flags.SeeHelp(cmd)
	if near := flags.Nearest(args[1], orders[:]); near != "" {
		hint = "did you mean " + near + "?"
	} else if flags.Nearest(args[1], []string{"status"}) != "" || args[1] == "status" {
		hint = "without an order, the status of the machines is shown"
	}
	return exit.Usage(hint, "fleet: %q is no order: expected %s", args[1], list)
}

// obey does what the command asks for.
func obey(cmd *cobra.Command, link *fleet.Link, order string, args []string, runs uint64) error {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	var change func(*fleet.Order)
	switch order {
	case "":
		return showFleet(ctx, cmd.OutOrStdout(), link)
	case "findings":
		return saveFindings(ctx, stderr, link, args[2])
	case "pause":
		change = func(o *fleet.Order) { o.State = fleet.Paused }
	case "resume":
		change = func(o *fleet.Order) { o.State = fleet.Running }
	case "stop":
		change = func(o *fleet.Order) { o.State = fleet.Stopped }
	case "budget":
		change = func(o *fleet.Order) { o.Runs = runs }
	}
	o, err := link.Order(ctx)
	if err != nil {
		return campaign.HubError(err)
	}
	if o.State == "" {
		o.State = fleet.Running
	}
	change(&o)
	if err := link.Give(ctx, o); err != nil {
		return campaign.HubError(err)
	}
	fmt.Fprintf(stderr, "teasel: %s is stored; machines that are connected do it at once, the others when they are\n", order)
	if o.State == fleet.Stopped {
		fmt.Fprintln(stderr, "teasel: until resume is stored, no machine begins")
	}
	if order == "resume" && o.Runs > 0 {
		fmt.Fprintf(stderr, "teasel: the budget of %d executions stands; 'budget --runs 0' lifts it\n", o.Runs)
	}
	return nil
}

// openFleet connects to a campaign on a hub. Without a name, it is the only one that there is.
func openFleet(ctx context.Context, h *flags.Hub) (*fleet.Link, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "operator"
	}
	const none = "none"
	c, err := h.Config(none, fmt.Sprintf("%.40s-%d", strings.ReplaceAll(host, ".", "_"), os.Getpid()))
	if err != nil {
		return nil, err
	}
	link, err := dial(c)
	if err != nil || h.Credentials != "" && c.Campaign != none { // they may not be allowed to list campaigns
		return link, err
	}
	names, err := link.Campaigns(ctx)
	if c.Campaign != none && (err != nil || slices.Contains(names, c.Campaign)) {
		return link, nil
	}
	link.Close()
	if err != nil {
		return nil, campaign.HubError(err)
	}
	url := fleet.Redact(h.URL)
	switch {
	case len(names) == 0:
		return nil, exit.Usage("'teasel mcp --hub "+url+" ...' begins one", "the hub at %s has no campaign", url)
	case c.Campaign != none:
		return nil, exit.Usage("--hub-name names one of these", "the hub at %s has no campaign %s; it has %s", url, c.Campaign, strings.Join(names, ", "))
	case len(names) > 1:
		return nil, exit.Usage("for example --hub-name "+names[0], "the hub at %s has several campaigns: %s", url, strings.Join(names, ", "))
	}
	c.Campaign = names[0]
	return dial(c)
}

// dial connects to a hub that is there: who looks at a fleet has nothing to do without it.
func dial(c fleet.Config) (*fleet.Link, error) {
	link, err := fleet.Dial(c)
	if err == nil {
		return link, nil
	}
	if link != nil {
		link.Close()
	}
	return nil, campaign.HubError(err)
}

// fleetRun returns what the reports of a fleet are about, and its machines.
func fleetRun(ctx context.Context, link *fleet.Link) (*report.Run, []fleet.Machine, error) {
	about, ok, err := link.About(ctx)
	if err == nil && !ok {
		err = exit.Usage("--hub-name names a campaign", "no machine has begun this campaign yet")
	}
	if err != nil {
		return nil, nil, fleetError(err)
	}
	machines, err := link.Machines(ctx, "")
	if err != nil {
		return nil, nil, fleetError(err)
	}
	r := &report.Run{Version: campaign.Version, Kind: about.Kind, Target: about.Target, Rules: flags.RulesOf(about.Kind), File: func(teasel.Finding) string { return "" }}
	s := &r.Summary
	running := false
	for _, m := range machines {
		s.Executions += m.Executions
		s.Elapsed, s.Features, s.Corpus = max(s.Elapsed, m.Elapsed), max(s.Features, m.Features), max(s.Corpus, m.Corpus)
		s.Workers += m.Workers
		running = running || m.Ended == "" && !m.Gone
	}
	if !running {
		s.Stopped = "fleet"
	}
	best, err := link.Best(ctx)
	if err != nil {
		return nil, nil, fleetError(err)
	}
	for _, f := range best {
		f.Finding.Occurrences = max(f.Finding.Occurrences, fleet.Occurrences(machines, f.Finding.ID()))
		if f.Finding.Stable == 0 {
			s.Unconfirmed = append(s.Unconfirmed, f.Finding)
		} else {
			s.Findings = append(s.Findings, f.Finding)
		}
	}
	return r, machines, nil
}

func fleetError(err error) error {
	if _, ok := err.(*exit.Error); ok {
		return err
	}
	return campaign.HubError(err)
}

// showFleet prints the machines and findings of a fleet.
func showFleet(ctx context.Context, w io.Writer, link *fleet.Link) error {
	r, machines, err := fleetRun(ctx, link)
	if err != nil {
		return err
	}
	order, err := link.Order(ctx)
	if err != nil {
		return fleetError(err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "kind\t%s\ntarget\t%s\nexecutions\t%d\nfindings\t%d\n", plain.Line(r.Kind), plain.Line(r.Target), r.Summary.Executions, len(r.Summary.Findings))
	if n := len(r.Summary.Unconfirmed); n > 0 {
		untried := 0
		for i := range r.Summary.Unconfirmed {
			if r.Summary.Unconfirmed[i].Tries == 0 {
				untried++
			}
		}
		fmt.Fprintf(t, "unconfirmed\t%d, %d of them for want of time\n", n, untried)
	}
	if order.State != "" {
		fmt.Fprintf(t, "order\t%s, by %s\n", order.State, plain.Line(order.By))
	}
	if order.Runs > 0 {
		fmt.Fprintf(t, "budget\t%d executions\n", order.Runs)
	}
	fmt.Fprintln(t)
	p := fleet.Panel(machines)
	fmt.Fprintln(t, strings.Join(p.Head, "\t"))
	for _, row := range p.Rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return exit.Failure(err)
	}
	for i := range r.Summary.Findings {
		f := &r.Summary.Findings[i]
		fmt.Fprintf(w, "\n%s  %s  %s\n  %s\n  finding %s, reproduced %d of %d times\n", f.Severity, plain.Line(f.Rule), plain.Line(f.Subject), plain.Line(f.Message), f.ID(), f.Stable, f.Tries)
	}
	return nil
}

// Show is show for the address of a hub.
func Show(cmd *cobra.Command, h *flags.Hub, format string) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
	defer cancel()
	link, err := openFleet(ctx, h)
	if err != nil {
		return err
	}
	defer link.Close()
	if format == "text" {
		return showFleet(ctx, cmd.OutOrStdout(), link)
	}
	r, machines, err := fleetRun(ctx, link)
	if err != nil {
		return err
	}
	r.Repro = func(f teasel.Finding) string {
		return "teasel fleet " + plain.Quote(fleet.Redact(h.URL)) + " findings from-fleet --hub-name " + link.Campaign() + " && teasel repro from-fleet/" + f.ID() + ".json"
	}
	r.History = func() (view.State, error) { return view.State{Panels: []view.Panel{fleet.Panel(machines)}}, nil }
	return campaign.WriteReport(cmd.OutOrStdout(), format, r)
}

// saveFindings writes the findings of a fleet to a directory.
func saveFindings(ctx context.Context, stderr io.Writer, link *fleet.Link, dir string) error {
	fs, err := link.Best(ctx)
	if err != nil {
		return fleetError(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return exit.Usage("choose another directory", "%w", err)
	}
	for i := range fs {
		if err := corpus.WriteFinding(filepath.Join(dir, fs[i].Finding.ID()+".json"), &fs[i]); err != nil {
			return exit.Failure(err)
		}
	}
	fmt.Fprintf(stderr, "teasel: wrote %s to %s\n", noun.Count(len(fs), "finding", "findings"), dir)
	return nil
}

// IsAddress reports whether a text is the address of a hub.
func IsAddress(text string) bool {
	return strings.HasPrefix(text, "nats://") || strings.HasPrefix(text, "tls://")
}
