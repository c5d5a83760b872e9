package teasel

import "github.com/teaselfuzz/teasel/internal/forecast"

// avoidance leaves out inputs that were made at random and of which a known fault is to be expected, while faults take more than their share:
// where what is made of every testcase may fault, passing over testcases does not help. What is expected is learnt from what has run.
// In what the share leaves everything runs, so that a fault behind a known one is found, and what was expected wrongly is corrected.
type avoidance struct {
	crashes, hangs expectation
	active         bool   // one of them is
	left           uint64 // inputs that were left out
}

// expectation is for faults of one kind, which have a share of their own.
type expectation struct {
	forecast.Forecast
	active bool // they have taken more than that
}

// hangWork is what known hangs are to take, one part in so many: each may cost as much as thousands of other inputs.
const hangWork = 100

// avoidedRuns is how many inputs that are left out cost as much as an execution of a quick target. If each did, known faults would take 28 %
// of the work on the target of TestEveryTestcaseFaults.
const avoidedRuns = 8

// failed takes in that a stage's input has ended in a fault.
func (w *Worker[T]) failed(in T, o *Observation) {
	if w.pipe != nil || o.Exit != ExitCrash && o.Exit != ExitHang { // an executor that overlaps with the worker holds back what it knows to kill
		return
	}
	data, err := w.codec.Encode(in)
	if err != nil { // whoever stores the finding says so
		return
	}
	e := &w.avoid.crashes
	if o.Exit == ExitHang {
		e = &w.avoid.hangs
	}
	e.Learn(data, true)
	w.look()
}

// look finds out which faults have taken more than their share.
func (w *Worker[T]) look() {
	a := &w.avoid
	a.hangs.active = w.meter.hangs*hangWork > w.meter.now()
	a.crashes.active = w.meter.exceeds()
	a.active = a.hangs.active || a.crashes.active
}

// avoids reports whether an input that a stage has made is to be left out.
func (w *Worker[T]) avoids(in T) bool {
	w.look()
	a := &w.avoid
	data, err := w.codec.Encode(in)
	if err != nil || !(a.hangs.active && a.hangs.Expects(data) || a.crashes.active && a.crashes.Expects(data)) {
		return false
	}
	w.state.Draws++
	if a.left++; a.left%avoidedRuns == 0 {
		w.meter.total++ // or shares that are counted in executions would not come to an end
	}
	return true
}

// survived takes in which inputs of a batch have ended well.
func (w *Worker[T]) survived(b *batch[T]) {
	for i := 0; i < b.n && w.avoid.active; i++ {
		if o := &b.obs[i]; o.unset() || o.failed() {
			continue
		}
		data, err := w.codec.Encode(b.ins[i])
		if err != nil {
			return
		}
		w.avoid.hangs.Learn(data, false)
		w.avoid.crashes.Learn(data, false)
	}
}
