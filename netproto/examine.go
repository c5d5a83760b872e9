package netproto

import (
	"context"
	"fmt"
	"math"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

const (
	always = math.MaxInt
	// examineEvery is how many dialogues there are between two looks at what the server holds and at how it is.
	examineEvery = 2048
	// fullChecks is how many dialogues are judged in full after a fault that only these can see: as many as it takes to confirm and
	// minimise it, of which each is many executions.
	fullChecks  = 128
	repetitions = 4096 // of a dialogue at most, to see whether the server holds more after each part of them
	firstPart   = 16   // repetitions of the first three parts; each later one has as many as the two before it: 32, 48, 80, ...
	tellingPart = 256  // repetitions of a part that are enough to see that what grows is no leak
	grownMemory = 1 << 20
	suspected   = 4 // dialogues that are judged in full when the server holds more than it did
	// repeatedShare is what part of its dialogues an executor may repeat beyond firstRepetitions, unless something is being
	// confirmed: a server that leaks much is still fuzzed.
	repeatedShare    = 4
	firstRepetitions = 4 * repetitions
	knownLeaks       = 4 // leaks that were shown
	// leastRepetitions is how many show that it goes on, and settledRepetitions where memory is concerned that a garbage collector may
	// still give back: Go's first collection comes after four megabytes, and Node.js holds 7 kB more for each of the first 2,000
	// connections, whatever they do, and 2 kB for each of the next. A server that holds muchMemory more is not waited for.
	leastRepetitions   = 64
	settledRepetitions = repetitions
	muchMemory         = 32 << 20
)

// scrutiny is when dialogues are judged in full, and how much was repeated for that.
type scrutiny struct {
	thorough   int    // dialogues that are still to be judged in full
	confirming bool   // the next of them has to be
	unexamined int    // dialogues since we have looked what the server holds and how it is
	held       uint64 // dialogues
	repeated   uint64 // those that were held again to see what they leave behind
	leaks      int    // dialogues that have shown a leak while nothing was being confirmed
}

// demand has so many dialogues judged in full at least.
func (s *scrutiny) demand(n int) {
	if s.thorough != always {
		s.thorough = max(s.thorough, n)
	}
}

// examine judges a dialogue that went well in full, if it is time to: it asks the user's command how the server is, and
// repeats the dialogue to see whether it leaves something behind. It does so now and then, when the server holds more than
// it did, and whenever a finding is confirmed.
func (e *executor) examine(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	due := e.thorough > 0
	if due && e.thorough != always {
		e.thorough--
	}
	if e.unexamined++; e.examinationDue() {
		e.unexamined = 0
		due = due || len(e.target.Health) > 0
		if u := e.usage(); u.Memory > e.baseline.Memory+grownMemory || u.Files > e.baseline.Files+2 {
			due, e.baseline = true, u
			e.demand(suspected)
		}
	}
	confirming := e.confirming || e.thorough == always
	e.confirming = false
	e.held++
	if !confirming {
		defer func() {
			if e.evidence.Fault == judge.FaultFiles || e.evidence.Fault == judge.FaultMemory {
				e.leaks++
			}
		}()
	}
	if o.Evidence == nil {
		looked, err := e.checkServed(ctx, o, confirming)
		if err == nil && looked && e.coverage != nil && o.Evidence == nil { // what others have reached is none of this dialogue's doing
			err = e.holdAgain(ctx, in, o)
		}
		if err != nil || o.Evidence != nil {
			return err
		}
	}
	if !due || o.Evidence != nil || !confirming && e.repeated > e.allowance() {
		return nil
	}
	if err := e.checkHealth(ctx, o); err != nil || o.Evidence != nil || e.server == nil {
		return err
	}
	least := firstPart
	if confirming { // on a fresh server, whose allocator may still have something to give
		least = leastRepetitions
	}
	return e.repeat(ctx, in, o, least, o.Ask.Full || confirming)
}

// allowance is how many repetitions there may have been where nothing is being confirmed. Each dialogue may show a leak that is known: then
// there is no more than the share.
func (s *scrutiny) allowance() uint64 {
	if s.leaks >= knownLeaks {
		return s.held / repeatedShare
	}
	return firstRepetitions + s.held/repeatedShare
}

// examinationDue reports whether it is time to look what the server holds and how it is. One that is started anew more often than we
// look is looked at before it is, when it has had the most dialogues.
func (e *executor) examinationDue() bool {
	if e.unexamined < examineEvery {
		return false
	}
	return e.target.Restart == 0 || e.dialogues >= min(e.target.Restart, examineEvery) || e.unexamined >= 2*examineEvery
}

// repeat holds the dialogue many times and looks what the server holds after each part of them. Caches and pools fill up, a
// leak goes on: it has to grow in each part, and to more than a sanitizer holds back of what was freed. A server may keep what
// it is sent, so that growth has to be more than that. It is given up after least times if nothing grows. Where full is true the server has the
// whole time limit each time.
func (e *executor) repeat(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation, least int, full bool) error {
	keep := e.target.Keep
	e.target.Keep = false // what belongs to a connection goes with it
	defer func() { e.target.Keep = keep }()
	enough := uint64(grownMemory)
	if e.quarantines {
		enough += quarantine << 21
	}
	wanted, _ := e.answered()
	first := e.usage()
	before, times := first, 0
	for part := firstPart; times < repetitions; times, part = times+part, max(part, times) {
		for i := range part {
			if err := ctx.Err(); err != nil { // nothing else looks at it where a server sleeps at once
				return err
			}
			again := teasel.Observation{Ask: teasel.Ask{Full: full}}
			o.Runs++
			e.repeated++
			if err := e.hold(ctx, in, &again); err != nil {
				return err
			}
			o.Messages += again.Messages
			if again.Exit > teasel.ExitRejected {
				e.inRepetition(o, &again, times+i+1)
				return nil
			}
			if n, _ := e.answered(); n == 0 && wanted > 0 {
				return e.usedUp(ctx, o, &again, times+i+1)
			}
		}
		now, all := e.usage(), times+part
		grown, lately := int(now.Memory-first.Memory)/all, int(now.Memory-before.Memory)/part
		switch memory, files := now.Memory > before.Memory, now.Files >= before.Files+part/2; {
		case now.Memory > e.target.Memory:
			e.fault(o, judge.FaultLimit, fmt.Sprintf("%d MiB", now.Memory>>20))
			e.down = true
			return e.hangUp()
		case !memory && !files && all >= least:
			return nil
		case files && all >= leastRepetitions:
			e.fault(o, judge.FaultFiles, fmt.Sprintf("%d more after %d times", now.Files-first.Files, all))
			return nil
		case memory && now.Memory-first.Memory >= enough && settled(now.Memory-first.Memory, all) && 3*lately >= 2*grown && lately > 2*in.Bytes()+slack:
			e.fault(o, judge.FaultMemory, fmt.Sprintf("about %d bytes for a dialogue of %d", lately, in.Bytes()))
			return nil
		case !files && part >= tellingPart && lately <= 2*in.Bytes()+slack: // as much as a store keeps
			return nil
		}
		before = now
	}
	return nil
}

// usedUp looks whether fresh clients are served still after a dialogue was repeated, and was not answered the last time.
func (e *executor) usedUp(ctx context.Context, o, again *teasel.Observation, times int) error {
	e.served.silent = mostSilentDialogues
	if _, err := e.checkServed(ctx, again, true); err != nil || again.Evidence == nil {
		return err
	}
	e.inRepetition(o, again, times)
	return nil
}

// settled reports whether a server that holds so much more memory after so many repetitions is likely to keep it.
func settled(more uint64, times int) bool {
	return times >= settledRepetitions || times >= leastRepetitions && more >= muchMemory
}

// inRepetition makes the end of a repetition that of the dialogue. Its finding is another one than if the dialogue had shown it at
// once, so that it does not count as a reproduction of that: what comes by chance once in a hundred times is sure to come in many.
func (e *executor) inRepetition(o, again *teasel.Observation, times int) {
	o.Exit, o.Short, o.Expensive, o.Detail, o.Evidence = again.Exit, again.Short, again.Expensive, again.Detail, again.Evidence
	e.evidence.Repeated = times
	if fs := judge.Detect(o); len(fs) > 0 {
		o.Detail = fs[0].Message
	}
}

// Repetitions returns how often a dialogue has to be held on one server at most to show a finding.
func Repetitions(f *teasel.Finding) int {
	if f.Rule == judge.RuleMemory || f.Rule == judge.RuleFiles || f.Rule == judge.RuleLimit || judge.InRepetition(f) {
		return repetitions
	}
	return 1
}

// slack is what a server may note down of a dialogue beyond what it was sent, in bytes.
const slack = 128

// fault notes a fault of a dialogue that has come to its end.
func (e *executor) fault(o *teasel.Observation, f judge.Fault, text string) {
	v := &e.evidence
	v.Fault, v.Text, v.At = f, text, e.said-1
	if v.Gone != nil { // a later client has seen it: which dialogue is to blame is not known
		v.At = -1
	}
	o.Exit = teasel.ExitCrash
	e.accuse(o)
}

// accuse makes the evidence that of a dialogue that has come to its end.
func (e *executor) accuse(o *teasel.Observation) {
	o.Evidence = &e.evidence
	e.demand(fullChecks)
	if fs := judge.Detect(o); len(fs) > 0 {
		o.Detail = fs[0].Message
	}
}
