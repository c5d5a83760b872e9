package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestFuzz: the three requests are found, with none beside them.
func TestFuzz(t *testing.T) {
	var out bytes.Buffer
	if err := fuzz(t.Context(), 1_000_000, &out); err != nil {
		t.Fatal(err)
	}
	const want = `reproduced 3 of 3 times by [{"Method":"PUT","Path":"NAME"},{"Method":"DELETE","Path":"NAME"},{"Method":"PATCH","Path":"NAME"}]`
	if got := strings.NewReplacer("vase", "NAME", "book", "NAME").Replace(out.String()); !strings.Contains(got, want) {
		t.Errorf("the bug was not found, or its input is not as short as it can be:\n%s", &out)
	}
}
