package cart

import (
	"testing"

	"github.com/teaselfuzz/teasel/gofunc"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// FuzzTotal checks that no order costs more than it does without vouchers. Under plain go test it runs one seed.
func FuzzTotal(f *testing.F) {
	test := gofunc.Test[Order]{Mutator: typed.Of[Order](typed.Choices[Payment](Card{}, Invoice{}), typed.Field[Invoice]("Days", typed.Range(0, 60)))}
	test.Fuzz(f, func(t *testing.T, o Order) {
		with, err := Total(o)
		if err != nil {
			return
		}
		for i := range o.Items { // the input is the test's to change
			o.Items[i].Voucher = nil
		}
		without, err := Total(o)
		if err != nil || with > without {
			t.Fatalf("with vouchers the order costs %d, without %d", with, without)
		}
	}, Order{Customer: "somebody", Items: []Item{{SKU: "AB123", Count: 1, Cents: 100}}, Payment: Card{Number: "4242"}})
}
