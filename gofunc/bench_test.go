package gofunc

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

type benchItem struct {
	Name  string
	Count int
	Price *uint32
}

type benchOrder struct {
	Customer string
	Express  bool
	Items    []benchItem
	Gift     *benchItem
}

func total(o benchOrder) (n int) {
	for _, it := range o.Items {
		n += it.Count
		if it.Price != nil {
			n += int(*it.Price)
		}
	}
	if n > 0 {
		Observe(1)
	}
	return n
}

var benchSeed = []byte(`{"Customer":"somebody","Express":true,"Items":[{"Name":"pen","Count":3,"Price":120},{"Name":"ink","Count":1,"Price":null}],` +
	`"Gift":{"Name":"card","Count":1,"Price":null}}`)

var benchSink int

// The campaigns run the same function as often; the time is that of b.N executions. Of the bytes, only a part decodes,
// which the figure valid/op says.
func benchmark[T any](b *testing.B, c *teasel.Campaign[T]) {
	b.Helper()
	c.Seed, c.Runs, c.NewPool = 1, uint64(b.N), func() teasel.Pool { return teasel.NewPool() }
	b.ResetTimer()
	if _, err := c.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkTypedCampaign(b *testing.B) {
	p, err := typed.Of[benchOrder]().Plan()
	if err != nil {
		b.Fatal(err)
	}
	seed, err := p.Decode(benchSeed)
	if err != nil {
		b.Fatal(err)
	}
	e := typed.NewEditor(p)
	benchmark(b, &teasel.Campaign[*typed.Value]{Target: &direct{p: p}, NewMutator: func() teasel.Mutator[*typed.Value] { return e }, Codec: p, Seeds: []*typed.Value{seed}})
}

// first reports one feature, once and when it is asked for: there is a testcase to work on.
type first bool

func (f *first) judge(o *teasel.Observation) {
	o.Exit = teasel.ExitOK
	if !bool(*f) || o.Ask.Features {
		*f = true
		o.Features = append(o.Features, 1)
	}
}

type direct struct {
	first
	p *typed.Plan
}

func (d *direct) Open(context.Context, teasel.Role) (teasel.Executor[*typed.Value], error) {
	return d, nil
}
func (*direct) Close() error { return nil }

func (d *direct) Exec(_ context.Context, in *typed.Value, o *teasel.Observation) error {
	benchSink += total(*(*benchOrder)(d.p.Argument(in)))
	d.judge(o)
	return nil
}

func BenchmarkJSONCampaign(b *testing.B) {
	d := &decoding{}
	benchmark(b, &teasel.Campaign[[]byte]{Target: d, NewMutator: func() teasel.Mutator[[]byte] { return &mutate.Bytes{MaxOps: 2} }, Codec: asIs{},
		Seeds: [][]byte{benchSeed}})
	b.ReportMetric(float64(d.valid)/float64(b.N), "valid/op")
}

type decoding struct {
	first
	valid int
}

func (d *decoding) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return d, nil }
func (*decoding) Close() error                                                         { return nil }

func (d *decoding) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	var v benchOrder
	if json.Unmarshal(in, &v) == nil {
		benchSink += total(v)
		d.valid++
	}
	d.judge(o)
	return nil
}

type asIs struct{}

func (asIs) Encode(in []byte) ([]byte, error)   { return in, nil }
func (asIs) Decode(data []byte) ([]byte, error) { return append([]byte(nil), data...), nil }
