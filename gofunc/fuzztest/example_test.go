package fuzztest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

const exampleTest = `package m

import "testing"

func FuzzMagic(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		if s == "magic" { panic("found it") }
	})
}
`

// A fuzz test is built, described, and fuzzed until something is found.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: go/panic: panic: found it, at m_test.go:7
}

func example(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": exampleTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	toolchain, err := overlay.FindToolchain(ctx, dir)
	if err != nil {
		return err
	}
	builder, err := overlay.NewBuilder(toolchain, filepath.Join(cache, "teasel", "go"))
	if err != nil {
		return err
	}
	target := &fuzztest.Target{Binary: filepath.Join(dir, "m.test"), Dir: dir, Name: "FuzzMagic"}
	if err := builder.Build(ctx, dir, overlay.Flags{}, target.Binary); err != nil {
		return err
	}
	seeds, err := target.Describe(ctx)
	if err != nil {
		return err
	}
	campaign := fuzztest.Campaign(target, nil)
	campaign.Seeds, campaign.Seed, campaign.StopAfter = append(seeds, fuzztest.Seeds(target.Kinds)...), 1, 1
	sum, err := campaign.Run(ctx)
	for _, f := range sum.Findings {
		fmt.Printf("%s: %s\n", f.Rule, f.Message)
	}
	return err
}
