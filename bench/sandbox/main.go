// Sandbox measures what --sandbox costs each kind of target: how long a campaign of one execution takes, which is all start-up, and the
// executions a second of longer ones, without and with it in turn. It prints the table of docs/sandbox.md.
//
//	go run ./bench/sandbox [-rounds N] [-duration 4s]
//
// What cannot be built or run here, for want of clang for example, is left out and named.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each is measured")
	duration := flag.Duration("duration", 4*time.Second, "of a campaign")
	flag.Parse()
	if err := measure(context.Background(), os.Stdout, *rounds, *duration); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// target is something to fuzz, with the command that makes it.
type target struct {
	name  string
	build []string // TEASEL and DIR stand for the command and for a folder; nil: there is nothing to build
	args  []string // of teasel
	more  []string // behind its flags
}

var targets = []target{
	{"native, our runtime", []string{"TEASEL", "cc", "-O1", "-fsanitize=fuzzer", "examples/native/harness.c", "examples/native/record.c", "-o", "DIR/harness"},
		[]string{"native"}, []string{"--", "DIR/harness"}},
	{"native, started for each input", nil, []string{"native"}, []string{"--", "cat"}},
	{"go", nil, []string{"go"}, []string{"./corpus"}}, // without a fault: what is found is saved beside the test
	{"mcp", []string{"go", "build", "-o", "DIR/planted", "./mcp/testdata/planted"}, []string{"mcp"}, []string{"--", "DIR/planted", "-bugs", "none"}},
	{"net, over TCP", []string{"cc", "-w", "-O1", "netproto/testdata/planted/session.c", "-o", "DIR/session"},
		[]string{"net", "--model", "netproto/testdata/planted/session.yaml", "--connect", "127.0.0.1:{port}"}, []string{"--", "DIR/session", "{port}"}},
}

func measure(ctx context.Context, w io.Writer, rounds int, duration time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "bench-sandbox-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // root runs servers as somebody else
		return err
	}
	teasel := filepath.Join(dir, "teasel")
	fill := strings.NewReplacer("TEASEL", teasel, "DIR", dir)
	run := func(args ...string) ([]byte, error) {
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = fill.Replace(a)
		}
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
		if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 1 && json.Valid(out) { // there are findings
			return out, nil
		} else if ok {
			err = fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, e.Stderr)
		}
		return out, err
	}
	if _, err := run("go", "build", "-o", teasel, "./cmd/teasel"); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| kind\t| start-up\t| with\t| executions/s\t| with\t| ratio\t|\n|---\t|---\t|---\t|---\t|---\t|---\t|")
	for i, t := range targets {
		took, rates, err := t.measure(run, teasel, filepath.Join(dir, fmt.Sprint("out", i)), rounds, duration)
		if err != nil {
			fmt.Fprintf(os.Stderr, "left out: %s: %v\n", t.name, err)
			continue
		}
		without, with := median(rates[0]), median(rates[1])
		fmt.Fprintf(table, "| %s\t| %.0f ms\t| %.0f ms\t| %.0f\t| %.0f\t| %.2f\t|\n", t.name, slices.Min(took[0]), slices.Min(took[1]), without, with, with/without)
	}
	return table.Flush()
}

// measure returns the milliseconds that campaigns of one execution take, and the executions a second of longer ones, each without and with a
// sandbox.
func (t target) measure(run func(...string) ([]byte, error), teasel, out string, rounds int, duration time.Duration) (took, rates [2][]float64, err error) {
	if t.build != nil {
		if _, err := run(t.build...); err != nil {
			return took, rates, err
		}
	}
	for range rounds {
		for side, flags := range [2][]string{nil, {"--sandbox"}} {
			campaign := func(limit ...string) ([]byte, error) {
				common := []string{"--no-ui", "--fresh", "--seed", "1", "--workers", "1", "--format", "json", "--out", out}
				return run(slices.Concat([]string{teasel}, t.args, flags, limit, common, t.more)...)
			}
			began := time.Now()
			if _, err := campaign("--runs", "1"); err != nil {
				return took, rates, err
			}
			took[side] = append(took[side], float64(time.Since(began).Milliseconds()))
			text, err := campaign("--duration", duration.String())
			if err != nil {
				return took, rates, err
			}
			var report struct {
				Rate float64 `json:"executions_per_second"`
			}
			if err := json.Unmarshal(text, &report); err != nil {
				return took, rates, err
			}
			rates[side] = append(rates[side], report.Rate)
		}
	}
	return took, rates, nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
