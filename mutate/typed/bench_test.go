package typed_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

type item struct {
	Name  string
	Count int
	Price *uint32
}

type basket struct {
	Customer string
	Express  bool
	Items    []item
	Gift     *item
	Codes    [4]uint16
}

const basketJSON = `{"Customer":"somebody","Express":true,"Items":[{"Name":"pen","Count":3,"Price":120},{"Name":"ink","Count":1,"Price":null},` +
	`{"Name":"paper","Count":500,"Price":4}],"Gift":{"Name":"card","Count":1,"Price":null},"Codes":[1,2,3,4]}`

var sink int

func use(b basket) int { return len(b.Items) + len(b.Customer) }

// Changes an input in place and passes it to a function, as the engine does.
func BenchmarkTyped(b *testing.B) {
	p, err := typed.Of[basket]().Plan()
	if err != nil {
		b.Fatal(err)
	}
	e := typed.NewEditor(p)
	v, err := e.Decode([]byte(basketJSON))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	pcg := rand.NewPCG(1, 2)
	r := rand.New(pcg)
	page := make([]byte, 0, 1<<16)
	for i := uint64(0); b.Loop(); i++ {
		pcg.Seed(1, i)
		e.Change(r, &v)
		e.Change(r, &v)
		page = e.Pack(page[:0], v)
		sink += use(*(*basket)(e.Argument(v)))
		e.Undo(&v)
		e.Undo(&v)
	}
}

// Mutates the same value as the bytes of its JSON, as a fuzz test over bytes must.
func BenchmarkBytes(b *testing.B) {
	m := &mutate.Bytes{MaxOps: 3}
	pcg := rand.NewPCG(1, 2)
	r := rand.New(pcg)
	b.ReportAllocs()
	var dst []byte
	src := []byte(basketJSON)
	for i := uint64(0); b.Loop(); i++ {
		pcg.Seed(1, i)
		dst = m.Mutate(r, dst, src)
		var in basket
		if json.Unmarshal(dst, &in) == nil {
			sink += use(in)
		}
	}
}

// Mutates the same value as a tree of JSON, so that the result is valid.
func BenchmarkJSON(b *testing.B) {
	b.ReportAllocs()
	src := []byte(basketJSON)
	for b.Loop() {
		var in basket
		if err := json.Unmarshal(src, &in); err != nil {
			b.Fatal(err)
		}
		sink += use(in)
	}
}

func BenchmarkParts(b *testing.B) {
	p, err := typed.Of[basket]().Plan()
	if err != nil {
		b.Fatal(err)
	}
	e := typed.NewEditor(p)
	v, err := e.Decode([]byte(basketJSON))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("pack", func(b *testing.B) {
		page := make([]byte, 0, 1<<16)
		for b.Loop() {
			page = e.Pack(page[:0], v)
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink += use(*(*basket)(e.Argument(v)))
		}
	})
	b.Run("change", func(b *testing.B) {
		b.ReportAllocs()
		r := rand.New(rand.NewPCG(1, 2))
		for b.Loop() {
			e.Change(r, &v)
			e.Undo(&v)
		}
	})
}
