package main

import (
	"bytes"
	"context"
	"regexp"
	"testing"
)

func TestFuzz(t *testing.T) {
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := fuzz(context.Background(), 1_000_000, out); err != nil {
			t.Fatal(err)
		}
	}
	// The minimiser leaves nothing that is not needed: no value, one digit.
	want := regexp.MustCompile(`(?m)^crash: panic: runtime error: index out of range, shown 3 of 3 times by "list\[-[1-9]\]="$`)
	if !want.MatchString(first.String()) {
		t.Errorf("the bug was not found:\n%s", &first)
	}
	if first.String() != second.String() {
		t.Errorf("the same seed gave another run:\n%s%s", &first, &second)
	}
}
