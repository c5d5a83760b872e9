package fuzztest_test

import (
	"errors"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// Each puzzle is solved within a number of executions that chance alone would not do with.
func TestPuzzles(t *testing.T) {
	dir := unpack(t, "puzzles.txtar")
	binary := build(t, dir, overlay.Flags{})
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for _, c := range []struct {
		test string
		runs uint64
		want string // the finding's message; "": there is none
	}{
		{"FuzzMagic", 20_000, "solved"},
		{"FuzzText", 20_000, "solved"},
		{"FuzzChecksum", 200_000, "solved"},
		{"FuzzTwo", 50_000, "solved"},
		{"FuzzTwoTexts", 1_000_000, "solved"},
		{"FuzzNothing", 50_000, ""},
	} {
		for seed := range seeds {
			target := &fuzztest.Target{Binary: binary, Dir: dir, Name: c.test}
			own, err := target.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			campaign := fuzztest.Campaign(target, nil)
			campaign.Seeds = append(own, fuzztest.Seeds(target.Kinds)...)
			campaign.Seed, campaign.Runs, campaign.StopAfter = seed+1, c.runs, 1
			sum, err := campaign.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if len(sum.Findings) > 0 {
				got = sum.Findings[0].Message
			}
			if got != c.want {
				t.Errorf("%s with seed %d: found %q in %d executions, want %q", c.test, seed+1, got, sum.Executions, c.want)
			}
			t.Logf("%s with seed %d: %d executions", c.test, seed+1, sum.Executions)
		}
	}
}

// What cannot be run says why.
func TestStartErrors(t *testing.T) {
	dir := unpack(t, "broken.txtar")
	binary := build(t, dir, overlay.Flags{})
	for test, want := range map[string]string{
		"FuzzFails":   "FuzzFails: it failed before F.Fuzz",
		"FuzzSkips":   "FuzzSkips: it is skipped: not here",
		"FuzzType":    "FuzzType: it failed before F.Fuzz",
		"FuzzTwice":   "FuzzTwice: it fails without any input",
		"FuzzAfter":   "FuzzAfter: it fails without any input",
		"FuzzCleanup": "FuzzCleanup: it fails without any input",
		"FuzzMissing": "FuzzMissing: the test binary has no such fuzz test",
	} {
		_, err := (&fuzztest.Target{Binary: binary, Dir: dir, Name: test}).Describe(t.Context())
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", test, err, want)
		}
		if e, ok := errors.AsType[*fuzztest.StartError](err); ok && test == "FuzzSkips" && e.Hint != "" {
			t.Errorf("%s: the reason is known, and there is a hint: %s", test, e.Hint)
		}
	}
	_, err := (&fuzztest.Target{Binary: binary, Dir: dir, Name: "FuzzFails", Env: []string{"ZOO_EXIT=3"}}).Describe(t.Context())
	if want := "FuzzFails: the test binary ended with exit status 3 before F.Fuzz"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := (&fuzztest.Target{Binary: binary, Dir: dir, Name: "FuzzWell"}).Describe(t.Context()); err != nil {
		t.Errorf("a fuzz test that can be run: %v", err)
	}
	_, err = (&fuzztest.Target{Binary: binary, Dir: dir, Name: "FuzzWell", Env: []string{"ZOO_MAIN=1"}}).Describe(t.Context())
	if e, ok := errors.AsType[*fuzztest.StartError](err); !ok || e.Skipped || e.Reason != "the process ended before the test" {
		t.Errorf("TestMain has not called Run: %v", err)
	}
}
