// Command library fuzzes a Go function with teasel's engine: a target, a mutator of bytes, a campaign.
package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// assign is what is fuzzed: it reads list[NUMBER]=VALUE. An index below zero gets past its check.
func assign(list []string, text string) error {
	number, found := strings.CutPrefix(text, "list[")
	if !found {
		return errors.New("expected list[")
	}
	number, value, found := strings.Cut(number, "]=")
	if !found {
		return errors.New("expected ]=")
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return errors.New("expected a number")
	}
	if n >= len(list) {
		return errors.New("the list is not so long")
	}
	list[n] = value
	return nil
}

// parser is the target and its executor: a function in this process needs nothing opened.
type parser struct{}

func (p parser) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return p, nil }
func (p parser) Close() error                                                       { return nil }

// Exec runs one input. Its feature is how the function answered: another error means that the input got to another place.
func (p parser) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	defer func() {
		if r := recover(); r != nil {
			o.Exit, o.Detail = teasel.ExitCrash, "panic: "+strings.TrimRight(fmt.Sprint(r), "[]-0123456789 ")
		}
	}()
	o.Exit = teasel.ExitOK
	err := assign(make([]string, 8), string(in))
	if err != nil {
		o.Exit = teasel.ExitRejected
	}
	h := fnv.New64a()
	fmt.Fprint(h, err)
	o.Features = append(o.Features, teasel.FeatureOf(h.Sum64()))
	return nil
}

// fuzz runs a campaign of at most runs executions and writes what it found.
func fuzz(ctx context.Context, runs uint64, w io.Writer) error {
	campaign := teasel.Campaign[[]byte]{
		Target:    parser{},
		Mutator:   &mutate.Bytes{MaxLen: 64},
		Codec:     teasel.Bytes{},
		Seeds:     [][]byte{[]byte("list[1]=a")},
		Seed:      1,
		Runs:      runs,
		StopAfter: 1,
	}
	sum, err := campaign.Run(ctx)
	if err != nil {
		return err
	}
	for _, f := range sum.Findings {
		fmt.Fprintf(w, "%s: %s, shown %d of %d times by %q\n", f.Rule, f.Message, f.Stable, f.Tries, f.Input)
	}
	fmt.Fprintf(w, "%d executions, %d testcases kept\n", sum.Executions, sum.Corpus)
	return nil
}

func main() {
	if err := fuzz(context.Background(), 1_000_000, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
