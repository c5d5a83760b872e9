// Command mcp fuzzes an MCP server from Go code: what `teasel mcp` does, without its directory and its screen.
//
//	go run ./examples/mcp COMMAND [ARG...]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// fuzz asks the server what it has, fuzzes it for at most runs requests, and writes what it found.
func fuzz(ctx context.Context, target run.Target, runs uint64, w io.Writer) (err error) {
	visit, err := target.Visit(ctx)
	if err != nil {
		return err
	}
	defer visit.Close()
	sess := visit.Session
	target.Session = sess

	// Tools that may destroy something are neither called nor, whatever a mutation makes of a line, named.
	choice, err := session.Selection{}.Apply(sess)
	if err != nil {
		return err
	}
	target.Blocked = choice.Blocks
	fmt.Fprintf(w, "%d tools to fuzz, %d blocked\n", len(choice.Tools), len(choice.Blocked))

	// The file that no server may read. Without it path traversal is not looked for.
	if target.Canary, err = script.PlaceCanary(target.Args, target.Env, target.Dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Canary.Remove()) }()

	// What there is, for calls that are to get beyond "no such thing".
	if err := visit.Learn(ctx, &choice); err != nil {
		return err
	}

	mutator := gen.NewMutator(gen.MutatorConfig{Session: sess, Choice: &choice, Profile: gen.Quick})
	campaign := mcp.Campaign(&target, mutator, judge.DetectorConfig{})
	for _, seed := range mutator.Seeds() {
		campaign.Seeds = append(campaign.Seeds, seed.Script)
	}
	campaign.Seed, campaign.Runs, campaign.Duration = 1, runs, time.Minute
	sum, err := campaign.Run(ctx)
	if err != nil {
		return err
	}
	for _, f := range sum.Findings {
		fmt.Fprintf(w, "\n%s  %s  %s\n%s\n%s", f.Severity, f.Rule, f.Subject, f.Message, f.Input)
	}
	fmt.Fprintf(w, "\n%d executions, %d findings\n", sum.Executions, len(sum.Findings))
	return nil
}

// replay runs one script, as it is in a file, on a fresh server and returns what is wrong with the answers.
func replay(ctx context.Context, target *run.Target, text []byte) (findings []teasel.Finding, err error) {
	in, err := script.Codec{}.Decode(text)
	if err != nil {
		return nil, err
	}
	executor, err := target.Open(ctx, teasel.Role{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, executor.Close()) }()
	findings, _, err = teasel.Replay(ctx, executor, judge.Detectors(judge.DetectorConfig{}), in)
	return findings, err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcp COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := fuzz(ctx, run.Target{Command: server.Command{Args: os.Args[1:]}}, 50_000, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}
