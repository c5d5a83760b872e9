package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRecord: what was added is found again, by another reader too, and only for the same run.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs")
	r, err := openRecord(file)
	if err != nil {
		t.Fatal(err)
	}
	want := sample{executions: 7, cpu: 1.5, wall: 2, edges: 3, lines: 4, regions: 5, version: "v1"}
	if err := r.add("cjson", "afl", 2, time.Minute, want); err != nil {
		t.Fatal(err)
	}
	again, err := openRecord(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*record{r, again} {
		if got, ok := r.find("cjson", "afl", 2, time.Minute); !ok || got != want {
			t.Errorf("found %v, %v", got, ok)
		}
		for _, miss := range []func() (sample, bool){
			func() (sample, bool) { return r.find("libpng", "afl", 2, time.Minute) },
			func() (sample, bool) { return r.find("cjson", "teasel", 2, time.Minute) },
			func() (sample, bool) { return r.find("cjson", "afl", 1, time.Minute) },
			func() (sample, bool) { return r.find("cjson", "afl", 2, time.Second) },
			func() (sample, bool) { return (*record)(nil).find("cjson", "afl", 2, time.Minute) },
		} {
			if got, ok := miss(); ok {
				t.Errorf("found another run: %v", got)
			}
		}
	}
	if err := os.WriteFile(file, []byte("{}\nnone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openRecord(file); err == nil || !strings.Contains(err.Error(), "runs:2:") {
		t.Errorf("a broken record: %v", err)
	}
}
