package teasel

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrStop is what Sync returns when the campaign is over.
var ErrStop = errors.New("campaign is over")

// Entry is a testcase on its way between workers, processes and machines, and on disk. Without features it was never
// run: a seed.
type Entry struct {
	Key        string // content name
	Data       []byte // the encoded input
	Parent     string // key of the testcase it was made from; "": none
	Stage      string // name of the stage that made it; "": a seed
	Features   []Feature
	Complexity float64
	Work       uint64
	Measures   []Measure
	Depth      int
	Step       uint64 // how far the ordered steps have gone
	Picked     uint64
	Execution  uint64        // of the worker that found it
	Found      time.Duration // after the start of the campaign
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
}

// News is what a worker has to tell since the last time.
type News struct {
	Entries     []Entry
	Findings    []Finding // confirmed as far as Stable says
	Unconfirmed []Finding
	Sightings   []Sighting
	Advances    []Advance
	Stages      []StageStats
	Worker      WorkerState
	Executions  uint64 // since the last time
	Hungry      bool   // the worker takes seeds
	Pending     bool   // of those that it was given, some are still to be run
}

// Exchange is how a worker meets the rest. When Sync returns, the news is safe with the other side. It brings what
// others have found since the last call. After [ErrStop] the worker tells its last news in one more call and ends.
type Exchange interface {
	Sync(ctx context.Context, n News) ([]Entry, error)
}

// A Source brings inputs from outside while a campaign runs, such as those that another fuzzer keeps. Pull returns the
// next of them, encoded; none is no error. It is called about once a second, and only when workers have taken all that it
// brought before. An error ends the campaign.
type Source interface {
	Pull(ctx context.Context) ([][]byte, error)
}

// WorkerState is what a worker needs to carry on where it was.
type WorkerState struct {
	Number     int
	Draws      uint64 // inputs made, which is what the generator is seeded by
	Executions uint64
}

type reply struct {
	Entries []Entry
	Err     string
}

type wire struct {
	enc *gob.Encoder
	dec *gob.Decoder
}

// Dial returns an [Exchange] over a stream whose other end is in [Serve].
func Dial(rw io.ReadWriter) Exchange { return &wire{gob.NewEncoder(rw), gob.NewDecoder(rw)} }

func (w *wire) Sync(_ context.Context, n News) ([]Entry, error) {
	if err := w.enc.Encode(n); err != nil {
		return nil, fmt.Errorf("publishing: %w", err)
	}
	var r reply
	if err := w.dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("pulling: %w", err)
	}
	switch r.Err {
	case "":
		return r.Entries, nil
	case ErrStop.Error():
		return r.Entries, ErrStop
	}
	return nil, errors.New(r.Err)
}

// Serve passes what comes over the stream to x until the other side goes away.
func Serve(ctx context.Context, rw io.ReadWriter, x Exchange) error {
	enc, dec := gob.NewEncoder(rw), gob.NewDecoder(rw)
	for {
		var n News
		if err := dec.Decode(&n); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("serving a worker: %w", err)
		}
		es, err := x.Sync(ctx, n)
		r := reply{Entries: es}
		if err != nil {
			r.Err = err.Error()
		}
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("serving a worker: %w", err)
		}
	}
}
