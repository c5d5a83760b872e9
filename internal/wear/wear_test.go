package wear_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel/internal/wear"
)

func ExampleEnds() {
	var e wear.Ends[string]
	crash := func(times int) (wear.Amount, error) {
		fmt.Println("tries", times)
		return wear.Amount{Messages: 300}, nil
	}
	for range 2 {
		after, err := e.After(context.Background(), "exit status 1", 310, crash)
		fmt.Println(after.Messages, err)
	}
	// Output:
	// tries 620
	// 300 <nil>
	// 300 <nil>
}

func TestAfter(t *testing.T) {
	var e wear.Ends[int]
	ctx, stop := context.WithCancel(t.Context())
	tried := 0
	never := func(times int) (wear.Amount, error) { tried = times; return wear.Amount{}, nil }
	for _, tt := range []struct{ had, tries int }{{0, 512}, {100, 0}, {512, 0}, {600, 1200}, {9000, 8192}, {20_000, 0}} {
		tried = 0
		if got, err := e.After(ctx, 1, tt.had, never); err != nil || got != (wear.Amount{}) || tried != tt.tries {
			t.Errorf("after %d: %v, %v, tried %d times, want %d", tt.had, got, err, tried, tt.tries)
		}
	}
	wrong := errors.New("ours")
	if _, err := e.After(ctx, 2, 9, func(int) (wear.Amount, error) { return wear.Amount{}, wrong }); !errors.Is(err, wrong) {
		t.Errorf("an error of ours is lost: %v", err)
	}
	if got, err := e.After(ctx, 2, 9, func(int) (wear.Amount, error) { stop(); return wear.Amount{}, ctx.Err() }); err != nil || got != (wear.Amount{}) {
		t.Errorf("stopped: %v, %v", got, err)
	}
	if got, err := e.After(t.Context(), 2, 9, func(int) (wear.Amount, error) { return wear.Amount{Messages: 9}, nil }); err != nil || got.Messages != 9 {
		t.Errorf("what was stopped is not tried again: %v, %v", got, err)
	}
	if got, err := e.After(t.Context(), 3, 9, nil); err != nil || got != (wear.Amount{}) {
		t.Errorf("nothing is to be tried: %v, %v", got, err)
	}
}
