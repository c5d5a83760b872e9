package teasel

import (
	"context"
	"errors"
	"time"
)

// ErrStop is what Sync returns when the campaign is over.
var ErrStop = errors.New("campaign is over")

// Entry is a testcase as it travels between workers, processes and machines, and as it is stored.
type Entry struct {
	Key        string // content name
	Data       []byte // the encoded input
	Parent     string // key of the testcase it was made from; "": none
	Stage      string // name of the stage that made it; "": a seed, or made from nothing
	Runs       uint32 // executions that Features and Measures come from, calibration included; 0: it was never run, it is a seed
	Features   FeatureSet
	Complexity float64
	Work       uint64
	Measures   []Measure
	Note       []byte // the kind's own annotation, encoded; nil: none
	Depth      int
	First      int    // features that no testcase had reached before; set by the hub
	Step       uint64 // the next ordered step
	Picked     uint64
	Execution  uint64        // of the worker that found it
	Found      time.Duration // after the start of the campaign
	LastPicked time.Duration // the same for when work on it was last reported; 0: never
}

// Sighting counts a known finding that was seen again.
type Sighting struct {
	ID    string
	Times uint64
}

// Advance says how far work on a testcase has gone.
type Advance struct {
	Key    string
	Step   uint64
	Picked uint64
	At     time.Duration // when it was reported, after the start of the campaign; set by the hub
}

// News is what a worker reports: all that has happened since its last call of Sync.
type News struct {
	Entries     []Entry
	Findings    []Finding // confirmed as far as Stable says
	Unconfirmed []Finding
	Sightings   []Sighting
	Advances    []Advance
	Unstable    []Feature // did not recur when a testcase was calibrated; each is reported once
	Finished    []uint64  // IDs of errands that the worker has finished; their results are in Findings or Unconfirmed
	Stages      []StageStats
	Worker      WorkerState
	Executions  uint64    // since the last call
	Messages    uint64    // the same
	Reproducing int       // findings that the worker has seen and tries to reproduce, or is going to
	WantsSeeds  bool      // the worker takes seeds
	Pending     bool      // the worker has not yet run and calibrated all the seeds that it was given
	Ran         bool      // it has run them all
	Notes       []string  // messages for the user
	Seeds       []SeedEnd // of a campaign with SeedsOnly
	Errands     bool      // the worker takes errands
	Leaving     bool      // the worker ends: this is its last call
	Died        bool      // the worker has died: another goroutine or process makes this last call in its place
}

// Reply is what a worker gets for its news.
type Reply struct {
	Entries  []Entry   // testcases of others, and seeds; if there are any, another call may bring more
	Errands  []Errand  // at most one, and only for a worker that takes errands and has none
	Unstable []Feature // found unstable by others: the worker ignores them from now on
	Wait     bool      // the campaign is paused: the worker executes nothing and calls again a little later, until this is not set
	Stopped  string    // with ErrStop: why the campaign is over, as in [Summary]
}

// Exchange connects a worker to the rest of the campaign. When Sync returns without an error, the news is safe with the
// other side. Each piece of news is given to Sync once: if ctx ends a call before the news is with the other side, the next call
// brings it along. After [ErrStop], which comes with a valid reply, the worker reports its last news with Leaving set and ends. When a
// worker has died, whoever notices calls Sync with Died set in its place. Seeds and errands that it has not finished go to
// other workers.
//
// One goroutine at a time uses an exchange.
type Exchange interface {
	Sync(ctx context.Context, n News) (Reply, error)
}

// A Source brings what others know while a campaign runs, such as the inputs that another fuzzer keeps. Pull returns what is
// new; nothing is no error. It is called about once a second, and only when workers have run all inputs that it brought before. An
// error ends the campaign.
type Source interface {
	Pull(ctx context.Context) (Supply, error)
}

// Supply is what a [Source] brings.
type Supply struct {
	Inputs   [][]byte  // encoded; one that cannot be decoded is skipped, with a note to the reporters
	Errands  []Errand  // findings that others have had no time to confirm; workers take them if the campaign has Errands set
	Unstable []Feature // that were seen to vary between runs of one input: workers ignore them from now on
}

// maxWorkers bounds the numbers of workers, for which the hub has a table.
const maxWorkers = 1 << 16

// WorkerState is what a worker needs to carry on where it was.
type WorkerState struct {
	Number     int    // of the worker, from 0 on
	Draws      uint64 // inputs made; the generator is seeded by their number
	Executions uint64
}
