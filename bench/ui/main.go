// Ui measures what the screen and the page cost a campaign: with --no-ui, with the screen in a terminal of 140x40, and with the page and
// three readers that ask for it once a second, in turn. The cost is the processor time that teasel takes more, as a share of one core, which
// is what a worker that is never idle loses. On a busy machine it can be measured only of a target that leaves the processor idle:
// elsewhere the processor time of the campaign itself differs by more from run to run.
//
//	go run ./bench/ui [-rounds N] -- teasel native --duration 20s --seed 1 --workers 1 -- ./harness
//
// It needs script(1), of util-linux, for the terminal.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each is measured")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "ui: name the campaign: ui -- teasel native --duration 20s --seed 1 -- ./harness")
		os.Exit(2)
	}
	if err := measure(os.Stdout, flag.Args(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "ui:", err)
		os.Exit(1)
	}
}

// way is how a campaign is looked at.
type way struct {
	name string
	run  func(command []string) (took, error)
	all  []took
}

// took is the processor time of teasel and the time that a campaign took, in seconds, and its executions a second.
type took struct{ cpu, wall, rate float64 }

func measure(w io.Writer, command []string, rounds int) error {
	ways := []*way{{name: "--no-ui", run: lines}, {name: "screen of 140x40", run: screen}, {name: "page, 3 readers", run: page}}
	fmt.Fprintf(w, "%-17s %15s %10s %12s\n", "", "processor time", "time", "executions/s")
	const row = "%-17s %13.2f s %8.2f s %12.0f"
	for range rounds {
		for _, y := range ways {
			t, err := y.run(command)
			if err != nil {
				return fmt.Errorf("%s: %w", y.name, err)
			}
			y.all = append(y.all, t)
			fmt.Fprintf(w, row+"\n", y.name, t.cpu, t.wall, t.rate)
		}
	}
	fmt.Fprintln(w, "\nmedians")
	base := 0.0
	for i, y := range ways {
		cpu, wall := median(of(y.all, func(t took) float64 { return t.cpu })), median(of(y.all, func(t took) float64 { return t.wall }))
		if i == 0 {
			base = cpu
		}
		fmt.Fprintf(w, row+"  costs %.2f%% of a core\n", y.name, cpu, wall, median(of(y.all, func(t took) float64 { return t.rate })), 100*(cpu-base)/wall)
	}
	return nil
}

func of(all []took, figure func(took) float64) (out []float64) {
	for _, t := range all {
		out = append(out, figure(t))
	}
	return out
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// with returns the command with more flags, before its first --, and a directory of its own.
func with(command []string, dir string, flags ...string) []string {
	at := slices.Index(command, "--")
	if at < 0 {
		at = len(command)
	}
	return slices.Insert(slices.Clone(command), at, append(flags, "--out", filepath.Join(dir, "out"))...)
}

var rate = regexp.MustCompile(`executions in [0-9.]+s \(([0-9]+)/s\)`)

// used runs a campaign, whose output said returns afterwards. Finding something is no failure.
func used(cmd *exec.Cmd, meanwhile func() error, said func() []byte) (t took, err error) {
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return t, err
	}
	err = meanwhile()
	wait := cmd.Wait()
	t.wall = time.Since(began).Seconds()
	if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 {
		return t, errors.Join(err, wait)
	}
	t.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m := rate.FindSubmatch(said())
	if m == nil {
		return t, errors.Join(err, errors.New("its report says no executions"))
	}
	t.rate, _ = strconv.ParseFloat(string(m[1]), 64)
	return t, err
}

func nothing() error { return nil }

func lines(command []string) (t took, err error) {
	dir, err := os.MkdirTemp("", "teasel-ui")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	args := with(command, dir, "--no-ui")
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout = &out
	return used(cmd, nothing, out.Bytes)
}

func screen(command []string) (t took, err error) {
	dir, err := os.MkdirTemp("", "teasel-ui")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	quoted := make([]string, 0, len(command))
	for _, a := range with(command, dir) {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	typescript := filepath.Join(dir, "typescript")
	cmd := exec.Command("script", "-qec", "stty cols 140 rows 40 && "+strings.Join(quoted, " "), typescript)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "CI=")
	in, err := cmd.StdinPipe() // it ends when its input does
	if err != nil {
		return t, err
	}
	defer in.Close()
	var drawn []byte
	t, err = used(cmd, nothing, func() []byte {
		drawn, _ = os.ReadFile(typescript) // without it there are no executions
		return drawn
	})
	if err == nil && !bytes.Contains(drawn, []byte("run time")) {
		err = errors.New("no screen was shown")
	}
	return t, err
}

func page(command []string) (t took, err error) {
	dir, err := os.MkdirTemp("", "teasel-ui")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	args := with(command, dir, "--no-ui", "--ui", "127.0.0.1:0")
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return t, err
	}
	return used(cmd, func() error {
		said := bufio.NewScanner(stderr)
		address := ""
		for address == "" && said.Scan() {
			_, address, _ = strings.Cut(said.Text(), "the page of this campaign is at ")
		}
		ctx, cancel := context.WithCancel(context.Background())
		var readers sync.WaitGroup
		answers := make([]int, 3)
		for i := range answers {
			readers.Go(func() { answers[i] = read(ctx, address) })
		}
		for said.Scan() { // until it ends
		}
		cancel()
		readers.Wait()
		if slices.Min(answers) < 2 {
			return fmt.Errorf("readers had %d answers", answers)
		}
		return nil
	}, out.Bytes)
}

// read asks for what is new once a second, as the page does, and returns how many answers it has had.
func read(ctx context.Context, address string) (answers int) {
	state := struct {
		Run      string
		Revision uint64
	}{}
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%sapi/state?since=%d&run=%s", address, state.Revision, state.Run), nil)
		if err != nil {
			return answers
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return answers
		}
		if json.NewDecoder(res.Body).Decode(&state) == nil {
			answers++
		}
		res.Body.Close()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return answers
}
