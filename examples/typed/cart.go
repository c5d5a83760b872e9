// Package cart is a small shop, with a bug that takes a certain order to show. cart_test.go has fuzz tests of it over typed
// values: go test runs their seeds, and teasel go finds the bug.
package cart

import (
	"errors"
	"fmt"
	"time"
)

// Payment is how an order is paid: [Card] or [Invoice].
type Payment interface{ due() time.Duration }

// Card pays at once.
type Card struct{ Number string }

// Invoice pays after some days.
type Invoice struct{ Days int }

func (Card) due() time.Duration      { return 0 }
func (i Invoice) due() time.Duration { return time.Duration(i.Days) * 24 * time.Hour }

// Item is a line of an order.
type Item struct {
	SKU     string `fuzz:"pattern=[A-Z]{2}[0-9]{3}"`
	Count   int    `fuzz:"min=1,max=1000"`
	Cents   uint32
	Voucher *Voucher
}

// Voucher takes a part off the price of an item.
type Voucher struct {
	Percent int `fuzz:"min=0,max=100"`
	Stacks  bool
}

// Order is what a customer sends.
type Order struct {
	Customer string
	Items    []Item `fuzz:"len=..20"`
	Payment  Payment
	Express  bool
}

// Total returns the price of an order in cents.
func Total(o Order) (uint64, error) {
	if len(o.Items) == 0 {
		return 0, errors.New("the order is empty")
	}
	var total uint64
	stacked := 0
	for _, it := range o.Items {
		price := uint64(it.Count) * uint64(it.Cents)
		if v := it.Voucher; v != nil {
			stacked += v.Percent
			if !v.Stacks {
				stacked = v.Percent
			}
			price -= price * uint64(stacked) / 100 // the bug: two vouchers that stack can take off more than there is
		}
		total += price
	}
	if o.Payment != nil && o.Payment.due() > 30*24*time.Hour {
		return 0, fmt.Errorf("%d days are too many", int(o.Payment.due().Hours()/24))
	}
	if o.Express {
		total += 990
	}
	return total, nil
}
