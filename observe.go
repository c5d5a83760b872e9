package teasel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Exit says how an execution ended.
type Exit uint8

const (
	ExitInvalid  Exit = iota // not set
	ExitOK                   // the target took the input
	ExitRejected             // the target refused it, as it may
	ExitCrash                // the target died or reported a fault
	ExitHang                 // the target did not come to an end in time
	ExitLost                 // the target died with this input and others in flight; never seen outside a worker
)

var exitNames = [...]string{"invalid", "ok", "rejected", "crash", "hang", "lost"}

func (e Exit) String() string {
	if int(e) < len(exitNames) {
		return exitNames[e]
	}
	return "exit?"
}

// Feature is one bit of novelty: an edge with its hit bucket, a fingerprint of a response, a state. Numbers below
// 1<<63 are the kind's own; [State] makes the others. 0 means no feature: an executor must not report it.
type Feature uint64

const stateBit Feature = 1 << 63

// State returns the feature of being in state s, which a state-first scheduler picks by.
func State(s uint64) Feature { return stateBit | Feature(s) }

// FeatureOf returns the feature of something that a hash stands for, whatever its 64 bits are: it is neither 0 nor a state.
func FeatureOf(hash uint64) Feature { return max(Feature(hash)&^stateBit, 1) }

// IsState reports whether f was made by [State].
func (f Feature) IsState() bool { return f&stateBit != 0 }

// Ask says what a stage wants to know of an execution. The zero value asks for news only, which is all that the hot
// path pays for.
type Ask struct {
	Features bool     // all features, not only those that are news to a judging executor
	Trace    bool     // the hash of everything reached
	Operands bool     // what was compared
	Quiet    bool     // only faults matter: features are neither reported as new nor recorded as known
	Watch    []uint32 // sites whose operands are wanted; those of other sites may be reported too; nil: all sites
	Quick    bool     // the executor may end the execution after a small part of the time limit; a hang is then verified with the full limit
	Full     bool     // the execution has all of the time limit and the last word: it is never ended early
	Serious  bool     // known faults have taken more than their share of the time: what sees faults of low severity alone, and costs time when it does, may be left out
}

// Operand is the two sides of one comparison in the target that did not hold.
type Operand struct {
	Site  uint32 // where; stable within a campaign
	Size  uint8  // bytes of each operand: 1, 2, 4, 8
	Const bool   // A is a constant of the program
	A, B  uint64
}

// Measure is a number that an execution came to, for pools that keep extremes or distinct values.
type Measure struct {
	ID    uint32
	Value float64
}

// Observation holds the facts of one execution. The worker owns it and hands it out reset, with Ask set and Runs 1;
// the executor fills in what it knows, Exit at least, and appends to the slices. Evidence belongs to the executor and is valid until its next execution,
// that of a Pipeliner until the next but one.
type Observation struct {
	Ask       Ask
	Exit      Exit      // must be set; an unset one ends the campaign with an error
	Runs      uint32    // how many executions it counts for; an executor may say 0
	Short     bool      // with ExitHang: the executor has ended it before its time limit, to save time; it is confirmed with the full time limit, on the background executor if there is one
	Expensive bool      // the target had to be started, or a time limit passed: the input is calibrated with one execution and never trimmed
	Messages  uint32    // of a conversation, that the target was sent; 0: the kind does not count any
	Work      uint64    // how much the target did, in a unit that is the same in each run, such as instructions or edges; 0: unknown
	Features  []Feature // in the order in which they were reached, as far as that is known
	Measures  []Measure
	Operands  []Operand
	Trace     uint64        // with Ask.Trace; 0: the worker hashes Features instead
	Elapsed   time.Duration // how long the target took; 0: not measured, and the execution counts as quick wherever its time matters
	Detail    string        // a sentence on how it ended, when it did not end well
	Evidence  any           // what the kind's detectors look at
	Note      any           // the kind's annotation of the testcase ([Testcase].Note); only used with Ask.Features

	findings []Finding // that the detectors returned, for the job that asked for the execution
}

// reset prepares o for an execution with the given Ask. Pointers are written only where there are some: a write barrier for each of
// them would cost more than the rest of the loop.
func (o *Observation) reset(a Ask) {
	if o.Ask.Watch != nil || a.Watch != nil {
		o.Ask = a
	} else {
		k := &o.Ask
		k.Features, k.Trace, k.Operands, k.Quiet, k.Quick, k.Full, k.Serious = a.Features, a.Trace, a.Operands, a.Quiet, a.Quick, a.Full, a.Serious
	}
	o.Exit, o.Runs, o.Messages, o.Short, o.Expensive, o.Work, o.Trace, o.Elapsed = ExitInvalid, 1, 0, false, false, 0, 0, 0
	if len(o.Features)+len(o.Measures)+len(o.Operands) > 0 {
		o.Features, o.Measures, o.Operands = o.Features[:0], o.Measures[:0], o.Operands[:0]
	}
	if o.Evidence != nil || o.Note != nil || o.Detail != "" || o.findings != nil {
		o.Evidence, o.Note, o.Detail, o.findings = nil, nil, "", nil
	}
}

// endAlone notes that no other input was in flight: a target that was lost has died of this one.
func (o *Observation) endAlone() {
	if o.Exit == ExitLost {
		o.Exit = ExitCrash
	}
}

// unset reports whether an executor has left Exit unset, or set it to a number that means nothing. It is part of what each execution
// pays for: 0 wraps around, so that one comparison will do.
func (o *Observation) unset() bool { return o.Exit-1 >= ExitLost }

// checkExit returns the error for an execution whose end is unknown: that of ctx, if that has ended it.
func (o *Observation) checkExit(ctx context.Context) error {
	switch {
	case !o.unset():
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case o.Exit == ExitInvalid:
		return errors.New("executing: executor left exit unset, expected ok, rejected, crash or hang")
	}
	return fmt.Errorf("executing: executor set exit to %d, expected %d (%v) to %d (%v)", o.Exit, ExitOK, ExitOK, ExitLost, ExitLost)
}

// cutShort reports whether an execution was ended before the full time limit, so that it may be slow and not a hang.
func (o *Observation) cutShort() bool { return o.Exit == ExitHang && (o.Ask.Quick || o.Short) }

// failed reports whether the target did not take or refuse the input as it may.
func (o *Observation) failed() bool { return o.Exit > ExitRejected }

// trace returns the hash of what was reached, in no order; an executor that does not fill in Trace has it computed from the
// features. It is never 0.
func (o *Observation) trace() uint64 {
	if o.Trace != 0 && !o.Expensive {
		return o.Trace
	}
	sum := uint64(1)
	for _, f := range o.Features {
		x := uint64(f) * 0x9e3779b97f4a7c15
		x ^= x >> 29
		sum += x * 0xbf58476d1ce4e5b9
	}
	return max(sum, 1)
}

// uninteresting reports whether there is nothing to judge.
func (o *Observation) uninteresting() bool {
	return o.Exit <= ExitRejected && len(o.Features) == 0 && o.Evidence == nil && len(o.Measures) == 0
}
