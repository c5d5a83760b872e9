package gofunc

import (
	"context"
	"fmt"
	"math"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// fewBits is the base-2 logarithm of how many values of a type are counted, at most.
const fewBits = 16

// tried counts the different values that have run, of a type that has few.
type tried struct {
	all  int
	seen map[string]struct{} // packed
}

// newTried returns nil if a type has more than a few values.
func newTried(p *typed.Plan) *tried {
	if p.Space() > fewBits {
		return nil
	}
	return &tried{all: int(math.Round(math.Exp2(p.Space()))), seen: map[string]struct{}{}}
}

func (t *tried) add(packed []byte) {
	if _, ok := t.seen[string(packed)]; !ok {
		t.seen[string(packed)] = struct{}{}
	}
}

// finite is the exchange of a worker that ends when all values have run.
type finite struct {
	teasel.Exchange
	tried *tried
	test  string
	typ   string
	over  bool
}

// Sync implements teasel.Exchange.
func (f *finite) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	if len(f.tried.seen) < f.tried.all {
		return f.Exchange.Sync(ctx, n)
	}
	if !f.over {
		f.over = true
		what := fmt.Sprintf("all %d values of the type %s have been tried", f.tried.all, f.typ)
		if f.tried.all == 1 {
			what = fmt.Sprintf("the only value of the type %s has been tried", f.typ)
		}
		n.Notes = append(n.Notes, f.test+": "+what)
	}
	r, err := f.Exchange.Sync(ctx, n)
	if err == nil && !n.Leaving {
		r.Stopped, err = "values", teasel.ErrStop
	}
	return r, err
}
