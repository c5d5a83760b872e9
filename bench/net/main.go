// Command net measures dialogues a second of teasel's executor against a server, and how often the same dialogue reaches the
// same: for the section on servers of docs/benchmarks.md.
//
//	go run ./bench/net --model examples/net/mqtt.yaml --connect 127.0.0.1:{port} -- mosquitto -p {port}
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

func main() {
	file := flag.String("model", "examples/net/mqtt.yaml", "model of the protocol")
	seed := flag.Int("seed", 0, "which of its seeds is the dialogue")
	first := flag.Int("from", 0, "message of the seed that the dialogue begins with")
	last := flag.Int("to", 0, "message that it ends before; 0: the end")
	connect := flag.String("connect", "127.0.0.1:{port}", "where the server listens")
	keep := flag.Bool("keep", false, "keep one connection")
	runs := flag.Int("runs", 5000, "dialogues")
	flag.Parse()
	if err := measure(*file, *seed, *first, *last, *runs, netproto.Target{Address: *connect, Command: flag.Args(), Keep: *keep}); err != nil {
		fmt.Fprintln(os.Stderr, "bench/net:", err)
		os.Exit(1)
	}
}

func measure(file string, seed, first, last, runs int, t netproto.Target) (err error) {
	if t.Model, err = model.Load(file); err != nil {
		return err
	}
	seeds := dialogue.Seeds(t.Model)
	if seed < 0 || seed >= len(seeds) {
		return fmt.Errorf("--seed %d: the model has %d seeds, numbered from 0 on", seed, len(seeds))
	}
	in := seeds[seed]
	if last == 0 {
		last = len(in.Messages)
	}
	if first < 0 || first >= last || last > len(in.Messages) {
		return fmt.Errorf("--from %d --to %d: the seed has %d messages, and at least one is to be sent", first, last, len(in.Messages))
	}
	ex, err := t.Open(context.Background(), teasel.Role{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	if first > 0 { // what comes before is said once
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}} // or what is news would be said again
		if err := ex.Exec(context.Background(), &dialogue.Dialogue{Messages: in.Messages[:first]}, &o); err != nil {
			return err
		}
	}
	in = &dialogue.Dialogue{Messages: in.Messages[first:last]}
	traces := map[uint64]int{}
	features := 0
	began := time.Now()
	for range runs {
		o := teasel.Observation{Ask: teasel.Ask{Trace: true}}
		if err := ex.Exec(context.Background(), in, &o); err != nil {
			return err
		}
		if o.Exit > teasel.ExitRejected {
			return fmt.Errorf("the dialogue ends with %v: %s", o.Exit, o.Detail)
		}
		traces[o.Trace]++
		features = max(features, len(o.Features))
	}
	took := time.Since(began)
	most := 0
	for _, n := range traces {
		most = max(most, n)
	}
	fmt.Printf("%d messages, kept connection %v: %.0f dialogues/s, %d traces, the commonest in %.2f %% of %d\n", len(in.Messages), t.Keep,
		float64(runs)/took.Seconds(), len(traces), 100*float64(most)/float64(runs), runs)
	return nil
}
