// Fleet prints what sharing costs the hub of a fleet of up to 10,000 machines, and what leaf nodes, several streams and a minimised pack
// change. Discovery is simulated, costs are measured figures, which flags replace by those of another machine.
//
//	go run ./bench/fleet
//
// With measure behind it, it measures on this machine how much sooner several workers find planted bugs than one, each with the same share of
// a core, and what the exchange costs a worker that is alone.
//
//	go run ./bench/fleet measure
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"text/tabwriter"
)

// costs are what a hub needs for one thing, and what a machine does. The defaults were measured on two cores of a virtual machine with
// nats-server 2.15.3, everything synced, and testcases of 1 kB: 1,000 connections that read 2,000 testcases each took 97 % of a core
// for 94,762 deliveries a second; 100 rounds and 22,477 deliveries a second took 36 %; 871 testcases a second were stored one by one.
type costs struct {
	deliver  float64 // seconds of a core for one testcase to one machine
	round    float64 // seconds of a core for what a machine asks and says every time, without testcases
	words    float64 // figures of other machines that a machine reads in a round, at most
	store    float64 // seconds of the disk for one testcase
	bytes    float64 // of a testcase on the wire
	network  float64 // bytes a second that a hub can send
	every    float64 // seconds between two rounds of a machine
	hold     float64 // seconds that a testcase must have been kept before it is sent
	speed    float64 // executions a second of a machine
	corpus   float64 // testcases that a machine that joins finds
	pack     float64 // share of them that reach everything
	leafSize float64 // machines at one leaf node
	streams  float64 // streams, each on a server of its own
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "measure" {
		if err := measure(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "fleet:", err)
			os.Exit(1)
		}
		return
	}
	c := costs{}
	f := flags(&c)
	_ = f.Parse(os.Args[1:]) // it ends the process itself
	if err := report(os.Stdout, &c); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// flags returns the flags that set costs, which have their defaults then.
func flags(c *costs) *flag.FlagSet {
	f := flag.NewFlagSet("fleet", flag.ExitOnError)
	for _, x := range []struct {
		into  *float64
		name  string
		value float64
		usage string
	}{
		{&c.deliver, "deliver", 0.97 / 94762, "seconds of a core for the delivery of one testcase to one machine"},
		{&c.round, "round", (0.36 - 22477*0.97/94762) / 100, "seconds of a core for one round of a machine, without testcases"},
		{&c.words, "words", 50, "figures of other machines that a machine reads in a round, at most"},
		{&c.store, "store", 1.0 / 871, "seconds of the disk to store one testcase"},
		{&c.bytes, "bytes", 1127, "bytes of a testcase on the wire"},
		{&c.network, "network", 117e6, "bytes a second that a hub can send"},
		{&c.every, "every", 10, "seconds between two rounds of a machine"},
		{&c.hold, "hold", 60, "seconds that a testcase must have been kept before it is sent"},
		{&c.speed, "speed", 5000, "executions a second of a machine"},
		{&c.corpus, "corpus", 50000, "testcases that a machine that joins finds"},
		{&c.pack, "pack", 0.2, "share of the corpus that reaches all of its features"},
		{&c.leafSize, "leaf", 50, "machines at one leaf node"},
		{&c.streams, "streams", 4, "streams, each on a server of its own"},
	} {
		f.Float64Var(x.into, x.name, x.value, x.usage)
	}
	return f
}

// phase is a time in the life of a campaign at which the hub's load is looked at.
type phase struct {
	name     string
	from, to float64 // seconds after the first machine has begun to send
}

var phases = []phase{{"first minute", 0, 60}, {"10 minutes", 300, 600}, {"1 hour", 1800, 3600}, {"1 day", 43200, 86400}}

// discover returns how many testcases a second a fleet of n machines sends in each phase. Features are spread evenly over the logarithm of
// how likely one execution is to reach them, which gives as many new ones as campaigns show: 360 for each time that the executions
// grow e-fold. A testcase is sent by who found it first, and by those who found it too and send in the same moment: each pulls before
// it sends.
func discover(c *costs, n float64) (sent []float64) {
	const (
		perFold = 360.0
		easiest = 0.01 // of the first feature, an execution
		folds   = 26
		stays   = 0.85 // testcases for each feature that are still kept after the hold
		moment  = 0.05 // seconds in which two that send do not see each other
	)
	sent = make([]float64, len(phases))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range int(perFold * folds) {
		rate := easiest * math.Exp(-float64(i)/perFold) * c.speed // of one machine, finds a second
		first := r.ExpFloat64() / (rate * n)
		others := (n - 1) * (1 - math.Exp(-rate*(c.hold+c.every)))
		copies := 1 + others*moment/c.every
		for j, p := range phases {
			if first >= p.from && first < p.to {
				sent[j] += stays * copies / (p.to - p.from)
			}
		}
	}
	return sent
}

// load is what one server has to do.
type load struct {
	core, disk, network float64 // shares: of one core, of what the disk and the network can do
}

func (l load) worst() float64 { return max(l.core, l.disk, l.network) }

// limit names what is used most.
func (l load) limit() string {
	switch l.worst() {
	case l.core:
		return "core"
	case l.disk:
		return "disk"
	}
	return "network"
}

// asking returns the seconds of a core that a round of a machine takes, of so many.
func (c *costs) asking(machines float64) float64 { return c.round + min(c.words, machines)*c.deliver }

// serve returns the load of a server to which this many clients are connected, while this many testcases a second come in.
func (c *costs) serve(clients, sent float64) load {
	delivered := sent * clients
	return load{core: clients/c.every*c.asking(clients) + delivered*c.deliver, disk: sent * c.store, network: delivered * c.bytes / c.network}
}

// arrangement is a way to connect machines: of the servers, that with the most to do.
type arrangement struct {
	name string
	load func(c *costs, n, sent float64) load
	join func(c *costs, n float64) float64 // seconds until n machines that begin at once have the corpus
}

var arrangements = []arrangement{
	{"one hub", func(c *costs, n, sent float64) load { return c.serve(n, sent) },
		func(c *costs, n float64) float64 { return c.reading(n, c.corpus) }},
	{"one hub, minimised pack", func(c *costs, n, sent float64) load { return c.serve(n, sent) },
		func(c *costs, n float64) float64 { return c.reading(n, c.corpus*c.pack) }},
	// Each machine asks all streams, so that rounds are not divided, only testcases.
	{"several streams", func(c *costs, n, sent float64) load { return c.serve(n, sent/c.streams) },
		func(c *costs, n float64) float64 { return c.reading(n, c.corpus/c.streams) }},
	// A leaf is one client of the hub, and takes each testcase once; its machines ask the leaf.
	{"a hub with leaf nodes", func(c *costs, n, sent float64) load {
		leaves := math.Ceil(n / c.leafSize)
		hub, leaf := c.serve(leaves, sent), c.serve(min(n, c.leafSize), sent)
		hub.core += n / c.every * (c.asking(n) - c.round/2) // figures go through the leaf to the hub, and come from it
		if hub.worst() > leaf.worst() {
			return hub
		}
		return leaf
	}, func(c *costs, n float64) float64 {
		return c.reading(math.Ceil(n/c.leafSize), c.corpus) + c.reading(min(n, c.leafSize), c.corpus)
	}},
}

// reading returns the seconds in which a server delivers so many testcases to so many clients.
func (c *costs) reading(clients, testcases float64) float64 {
	return clients * testcases * max(c.deliver, c.bytes/c.network)
}

// largest returns how many machines an arrangement takes before a server has more to do than it can, up to a million.
func (a *arrangement) largest(c *costs, at int) (n float64, by string) {
	low, high := 1.0, 1e6
	for high/low > 1.02 {
		n := math.Sqrt(low * high)
		if l := a.load(c, n, discover(c, n)[at]); l.worst() > 1 {
			high, by = n, l.limit()
		} else {
			low = n
		}
	}
	return low, by
}

func report(w io.Writer, c *costs) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "machines\tphase\ttestcases sent a second\t")
	for _, a := range arrangements {
		fmt.Fprintf(t, "%s\t", a.name)
	}
	fmt.Fprintln(t)
	for _, n := range []float64{1, 10, 100, 1000, 10000} {
		sent := discover(c, n)
		for j, p := range phases {
			fmt.Fprintf(t, "%.0f\t%s\t%.3g\t", n, p.name, sent[j])
			for _, a := range arrangements {
				l := a.load(c, n, sent[j])
				fmt.Fprintf(t, "%.1f%% of %s\t", 100*l.worst(), l.limit())
			}
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%.0f\tall join at once\t%.0f each\t", n, c.corpus)
		for _, a := range arrangements {
			fmt.Fprintf(t, "%s\t", duration(a.join(c, n)))
		}
		fmt.Fprintln(t)
	}
	for j, p := range phases {
		fmt.Fprintf(t, "most\t%s\t\t", p.name)
		for _, a := range arrangements {
			n, by := a.largest(c, j)
			switch {
			case by == "":
				fmt.Fprint(t, "over a million\t")
			default:
				fmt.Fprintf(t, "%.0f machines, by %s\t", math.Round(n/100)*100, by)
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func duration(s float64) string {
	switch {
	case s < 120:
		return fmt.Sprintf("%.3g s", s)
	case s < 7200:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}
