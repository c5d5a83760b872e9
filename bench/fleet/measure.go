package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/teaselfuzz/teasel/fleet"
)

// plan says what is measured.
type plan struct {
	cores  float64       // that each worker gets
	rounds int           // runs with each number of workers
	limit  time.Duration // of a run
	burn   int           // rounds of work of an input
	pairs  int           // runs with and without a hub
	runs   int           // executions of each
}

// bench has the programs, and a directory for all else.
type bench struct {
	plan
	dir, teasel, hub, target string
}

// measure prints how soon 1, 2, 4 and 8 workers find the planted bugs and reach the same coverage, and what the exchange costs one alone.
func measure(args []string) error {
	var b bench
	f := flag.NewFlagSet("fleet measure", flag.ExitOnError)
	f.Float64Var(&b.cores, "cores", float64(runtime.NumCPU())/8, "share of a core that each worker gets; by default eight of them get all cores")
	f.IntVar(&b.rounds, "rounds", 3, "runs with each number of workers; 0: they are not measured")
	f.DurationVar(&b.limit, "limit", time.Minute, "time after which a run ends that has not found all bugs")
	f.IntVar(&b.burn, "burn", 20_000, "steps that the target works on each input")
	f.IntVar(&b.pairs, "pairs", 10, "pairs of runs, with a hub and without; 0: they are not measured")
	f.IntVar(&b.runs, "runs", 150_000, "executions of each run of a pair")
	_ = f.Parse(args) // it ends the process itself
	var err error
	if b.dir, err = os.MkdirTemp("", "teasel-fleet"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(); err != nil {
		return err
	}
	if b.rounds > 0 {
		if err := b.workers(); err != nil {
			return err
		}
	}
	if b.pairs > 0 {
		return b.cost()
	}
	return nil
}

// build builds teasel, teasel-hub and the planted target.
func (b *bench) build() error {
	b.teasel, b.hub, b.target = filepath.Join(b.dir, "teasel"), filepath.Join(b.dir, "teasel-hub"), filepath.Join(b.dir, "planted")
	source, seeds := filepath.Join(b.dir, "planted.c"), filepath.Join(b.dir, "seeds")
	err := errors.Join(os.WriteFile(source, []byte(planted(b.burn)), 0o644), os.Mkdir(seeds, 0o755),
		os.WriteFile(filepath.Join(seeds, "zeros"), make([]byte, passages*doors), 0o644))
	for _, c := range [][]string{{"go", "build", "-o", b.teasel, "./cmd/teasel"}, {"go", "build", "-o", b.hub, "./cmd/teasel-hub"},
		{b.teasel, "cc", "-O1", "-g", "-fsanitize=fuzzer", source, "-o", b.target}} {
		if err == nil {
			if out, e := exec.Command(c[0], c[1:]...).CombinedOutput(); e != nil {
				err = fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), e, out)
			}
		}
	}
	return err
}

// startHub starts a hub of its own for a run. stop ends it.
func (b *bench) startHub(name string) (url string, stop func() error, err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return "", nil, err
	}
	c := exec.Command(b.hub, "--dir", filepath.Join(b.dir, name+"-hub"), "--listen", address)
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	return "nats://" + address, func() error { return errors.Join(c.Process.Signal(os.Interrupt), c.Wait()) }, nil
}

// flags returns the command line of a worker, which takes part in a fleet unless url is "".
func (b *bench) flags(out, url, campaign string, seed int, more ...string) []string {
	args := append([]string{"native", "--no-ui", "--workers", "1", "--seed", strconv.Itoa(seed), "--corpus", filepath.Join(b.dir, "seeds"), "--out", filepath.Join(b.dir, out)}, more...)
	if url != "" {
		args = append(args, "--hub", url, "--hub-name", campaign, "--hub-machine", out)
	}
	return append(args, "--", b.target)
}

// outcome is what a run has come to.
type outcome struct {
	bugs       []time.Duration // when each was on the hub, confirmed
	features   []time.Duration // when so many had been reached by one machine: the time of n is at n-1
	executions uint64
	elapsed    time.Duration
}

// run has n workers fuzz together until all bugs are found, or the time is over.
func (b *bench) run(n, round int) (o outcome, err error) {
	name := fmt.Sprintf("%d-%d", n, round)
	url, stop, err := b.startHub(name)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var watch *fleet.Link
	for tries := 0; ; tries++ {
		var e error
		if watch, e = fleet.Dial(fleet.Config{URL: url, Campaign: "bench", Machine: "watch"}); e == nil {
			break
		}
		if watch != nil {
			watch.Close()
		}
		if tries == 200 {
			return o, e
		}
		time.Sleep(50 * time.Millisecond)
	}
	defer watch.Close()
	if _, err := watch.Streams(context.Background()); err != nil {
		return o, err
	}
	began := time.Now()
	for i := range n {
		s, _, err := newShare(fmt.Sprintf("%s-%d", name, i), b.cores)
		if err != nil {
			return o, err
		}
		c := s.command(b.teasel, b.flags(fmt.Sprintf("%s-%d", name, i), url, "bench", 100*round+i,
			"--hub-hold", "1s", "--hub-every", "1s")...) // often: a run lasts a minute, and not a day
		if err := c.Start(); err != nil {
			return o, errors.Join(err, s.remove())
		}
		defer func() {
			_ = c.Process.Signal(os.Interrupt)
			_ = c.Wait() // its status says that there are findings
			_ = s.remove()
		}()
	}
	for o.elapsed < b.limit && len(o.bugs) < passages {
		time.Sleep(100 * time.Millisecond)
		if err := o.look(watch, began); err != nil {
			return o, err
		}
	}
	return o, nil
}

// look asks the hub how far the machines are.
func (o *outcome) look(watch *fleet.Link, began time.Time) error {
	best, err := watch.Best(context.Background())
	if err != nil {
		return err
	}
	ms, err := watch.Machines(context.Background(), "")
	if err != nil {
		return err
	}
	o.elapsed = time.Since(began)
	confirmed, reached := 0, 0
	for i := range best {
		if best[i].Finding.Stable > 0 {
			confirmed++
		}
	}
	o.executions = 0
	for _, m := range ms {
		reached, o.executions = max(reached, m.Features), o.executions+m.Executions
	}
	for len(o.bugs) < confirmed {
		o.bugs = append(o.bugs, o.elapsed)
	}
	for len(o.features) < reached {
		o.features = append(o.features, o.elapsed)
	}
	return nil
}

// workers prints the table of workers.
func (b *bench) workers() error {
	s, how, err := newShare("try", b.cores)
	if err != nil {
		return err
	}
	if err := s.remove(); err != nil {
		return err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("Each worker has %.2f of a core (%s); %d bugs; %d runs of each row, of at most %v; load %s\n", b.cores, how, passages, b.rounds, b.limit, bytes.TrimSpace(load))
	sizes := []int{1, 2, 4, 8}
	all := map[int][]outcome{}
	for round := range b.rounds {
		for _, n := range sizes {
			o, err := b.run(n, round)
			if err != nil {
				return err
			}
			all[n] = append(all[n], o)
		}
	}
	// What one worker reaches in its time is what the others are measured by.
	same := 0
	for _, o := range all[1] {
		same = max(same, len(o.features))
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "workers\tbugs found\ttime to half of them\tto all\tto %d features\texecutions\t\n", same)
	for _, n := range sizes {
		var found, executions []int
		for _, o := range all[n] {
			found, executions = append(found, len(o.bugs)), append(executions, int(o.executions))
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t\n", n, spread(found, strconv.Itoa), b.times(all[n], passages/2, func(o outcome) []time.Duration { return o.bugs }),
			b.times(all[n], passages, func(o outcome) []time.Duration { return o.bugs }), b.times(all[n], same, func(o outcome) []time.Duration { return o.features }), spread(executions, strconv.Itoa))
	}
	return t.Flush()
}

// times prints when the nth thing was reached in each of some runs.
func (b *bench) times(all []outcome, nth int, of func(outcome) []time.Duration) string {
	var at []time.Duration
	for _, o := range all {
		if ts := of(o); len(ts) < nth {
			at = append(at, b.limit+1)
		} else {
			at = append(at, ts[nth-1])
		}
	}
	return spread(at, func(d time.Duration) string {
		if d > b.limit {
			return fmt.Sprintf("over %v", b.limit)
		}
		return fmt.Sprintf("%.0f s", d.Seconds())
	})
}

// spread prints the median of some values, and the least and the greatest.
func spread[T cmp.Ordered](vs []T, print func(T) string) string {
	vs = slices.Sorted(slices.Values(vs))
	return fmt.Sprintf("%s (%s to %s)", print(vs[len(vs)/2]), print(vs[0]), print(vs[len(vs)-1]))
}

// cost prints what the exchange costs a worker that is alone: the processor time of teasel and the target for as many executions, with a hub and
// without, one after the other.
func (b *bench) cost() error {
	url, stop, err := b.startHub("cost")
	if err != nil {
		return err
	}
	var more []float64
	var with, without time.Duration
	for pair := range b.pairs {
		var took [2]time.Duration
		for turn := range 2 {
			withHub := (pair + turn) % 2 // either is the first one in every second pair
			at := ""
			if withHub == 1 {
				at = url
			}
			c := exec.Command(b.teasel, b.flags(fmt.Sprintf("cost-%d-%d", pair, withHub), at, fmt.Sprint("pair", pair), pair+1, "--runs", strconv.Itoa(b.runs))...)
			if out, err := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.ExitCode() > 1 {
				return errors.Join(fmt.Errorf("measuring the cost: %w\n%s", err, out), stop())
			}
			took[withHub] = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
		without, with = without+took[0], with+took[1]
		more = append(more, 100*(took[1].Seconds()/took[0].Seconds()-1))
	}
	fmt.Printf("\nA lone worker, %d pairs of %d executions: %.1f s of processor time without a hub, %.1f s with one; of pairs %s more\n", b.pairs, b.runs, without.Seconds(), with.Seconds(),
		spread(more, func(p float64) string { return fmt.Sprintf("%+.1f %%", p) }))
	return stop()
}
