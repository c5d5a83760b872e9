package fuzztest

import (
	"context"
	"sync"

	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// recursions is what is known of inputs that need more than [judge.ShallowStack]. All executors of a target share it.
type recursions struct {
	mu      sync.Mutex
	endless map[string]bool   // findings of inputs that have overflowed the stack that plain go test gives them
	shown   map[string]*death // how these inputs died, by input
	deep    bool              // an input needs more than a shallow stack, and ends
}

func newRecursions() *recursions {
	return &recursions{endless: map[string]bool{}, shown: map[string]*death{}}
}

// mostShown is of how many inputs it is kept how they have overflowed the stack.
const mostShown = 64

// overflows returns how an input has overflowed the stack that plain go test gives it, nil if it is not known to do so, and whether all
// inputs are to have that stack.
func (r *recursions) overflows(in string) (died *death, deep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown[in], r.deep
}

// isEndless reports whether an input with that finding has overflowed the stack that plain go test gives it.
func (r *recursions) isEndless(finding string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endless[finding]
}

// show notes how an input died that had all of the stack.
func (r *recursions) show(in, finding string, d *death) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endless[finding] = true; len(r.shown) < mostShown {
		r.shown[in] = d
	}
}

// ends notes that a recursion has ended that needs more than a shallow stack.
func (r *recursions) ends() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deep = true
}

// stackLimit is how large goroutines' stacks may become while the batch runs; 0: as large as under plain go test. An input that is to be
// confirmed has to overflow that once.
func (e *executor) stackLimit(quick bool) uint32 {
	if died, deep := e.recursions.overflows(string(e.m.input(0))); deep || e.confirms && !quick && died == nil {
		return 0
	}
	return judge.ShallowStack
}

// overflowed returns how an input died that has overflowed a shallow stack: as it would under plain go test, which is tried out of the
// first input of a finding, and of every input that is to be confirmed; nil: it ends.
func (e *executor) overflowed(ctx context.Context, slot int, died *death) (*death, error) {
	in := string(e.m.input(slot))
	if d, _ := e.recursions.overflows(in); d != nil {
		return d, nil
	}
	if e.recursions.isEndless(e.identify(died)) {
		return died, nil
	}
	e.m.MaxStack = 0
	again, err := e.alone(ctx, e.target.timeout(), slot)
	switch {
	case err != nil:
		return nil, err
	case again == nil:
		e.recursions.ends()
		e.discard(slot)
		return nil, nil
	}
	e.showed(in, again)
	return again, nil
}

// showed notes how an input died that had all of the stack.
func (e *executor) showed(in string, d *death) {
	if f := e.finding(d); f.Rule == judge.StackRule {
		e.recursions.show(in, f.ID(), d)
	}
}
