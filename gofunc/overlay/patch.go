package overlay

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// added holds the files that are added to internal/fuzz.
//
//go:embed patch/*.txt
var added embed.FS

// Mode is how the inputs of a fuzz test are run.
type Mode uint8

// The modes, the fastest first.
const (
	ModeInvalid Mode = iota
	ModeFast         // one testing.T serves many inputs, as long as it is clean
	ModeSlow         // a testing.T of its own for each input: package testing is not as it was expected
	ModeNative       // go test -fuzz as a subprocess: package internal/fuzz is not as it was expected
)

func (m Mode) String() string {
	return [...]string{"invalid", "fast", "slow", "native"}[min(m, ModeNative)]
}

// edit is a change of one file of the standard library: what is inserted behind the only place where anchor stands.
// It keeps to the line, so that the line numbers in stacks stay right.
type edit struct {
	file, anchor, insert string
}

const importFuzz = ` "internal/fuzz"; `

// essential edits make the test binary one that runs inputs for teasel.
var essential = []edit{
	{"internal/fuzz/worker.go", "func RunFuzzWorker(ctx context.Context, fn func(CorpusEntry) error) error {", ` if On() { return teaselServe(ctx, fn) };`},
	{"internal/fuzz/fuzz.go", "func CoordinateFuzzing(ctx context.Context, opts CoordinateFuzzingOpts) (err error) {", ` if On() { return teaselDescribe(opts) };`},
	{"internal/fuzz/fuzz.go", "func ReadCorpus(dir string, types []reflect.Type) ([]CorpusEntry, error) {", ` if On() { return nil, nil }; dir = teaselCorpus(dir);`},
	{"internal/fuzz/coverage.go", "func ResetCoverage() {", ` if On() { Begin(); return };`},
	{"internal/fuzz/coverage.go", "func SnapshotCoverage() {", ` if On() { Returned(); if !teaselFast { End() }; return };`},
}

// quick edits let one testing.T serve many inputs.
var quick = []edit{
	{"os/proc.go", "func Exit(code int) {", ` if TeaselExit != nil { TeaselExit(code) };`},
	{"testing/fuzz.go", "\nimport (", importFuzz},
	{"testing/fuzz.go", "f.fstate.deps.ResetCoverage()\n\t\t\t}", "; " + loop},
	{"testing/fuzz.go", "f.common.inFuzzFn, f.inFuzzFn = false, false", `; fuzz.Ended(t.Skipped())`},
	{"testing/testing.go", "\nimport (", importFuzz},
	{"testing/testing.go", "func (c *common) Context() context.Context {", ` fuzz.Touch();`},
	{"testing/testing.go", "func (t *T) report() {", ` fuzz.End();`},
	{"testing/testing.go", "func (t *T) Parallel() {", ` if fuzz.On() { return };`},
	{"testing/testing.go", "func (c *common) Error(args ...any) {", markArgs},
	{"testing/testing.go", "func (c *common) Fatal(args ...any) {", markArgs},
	{"testing/testing.go", "func (c *common) Errorf(format string, args ...any) {", markFormat},
	{"testing/testing.go", "func (c *common) Fatalf(format string, args ...any) {", markFormat},
}

// These mark the texts of failures, which look like those of Log otherwise.
const (
	markArgs   = ` if fuzz.Marks() { args = append([]any{fuzz.Mark}, args...) };`
	markFormat = ` if fuzz.Marks() { format = fuzz.Mark + " " + format };`
)

// loop stands before the call of the fuzz target in package testing.
const loop = `if len(e.Values) == 1 { if l, ok := e.Values[0].(*fuzz.Loop); ok {` +
	` var b func([]byte); var s func(string);` +
	` switch g := ff.(type) { case func(*T, []byte): b = func(v []byte) { g(t, v) }; case func(*T, string): s = func(v string) { g(t, v) } };` +
	` l.Run(fn, args[0], b, s, func() bool {` +
	` if t.Failed() || len(t.cleanups) > 0 || t.hasSub.Load() { return true };` +
	` if len(t.output) > 0 { t.mu.Lock(); t.output = t.output[:0]; t.mu.Unlock() };` +
	` return false }); return } }`

// apply changes the files that read returns. A file that the edits name is in the result.
func apply(edits []edit, read func(file string) ([]byte, error), into map[string][]byte) error {
	changed := map[string]string{}
	for _, e := range edits {
		text, ok := changed[e.file]
		if !ok {
			old, err := read(e.file)
			if err != nil {
				return err
			}
			text = string(old)
		}
		if n := strings.Count(text, e.anchor); n != 1 {
			return fmt.Errorf("%s has %d places with %q: expected 1", e.file, n, strings.TrimSpace(e.anchor))
		}
		changed[e.file] = strings.Replace(text, e.anchor, e.anchor+e.insert, 1)
	}
	for file, text := range changed {
		into[file] = []byte(text)
	}
	return nil
}

var packageClause = regexp.MustCompile(`(?m)^package agent$`)

// patched returns the files of the standard library that differ in a test binary for teasel, by their names below
// src, and how inputs are run with them. why says what is not as it was expected; the faster ways need that.
func patched(read func(file string) ([]byte, error)) (files map[string][]byte, mode Mode, why error) {
	files = map[string][]byte{}
	if err := apply(essential, read, files); err != nil {
		return nil, ModeNative, err
	}
	mode = ModeFast
	if why = apply(quick, read, files); why != nil {
		mode = ModeSlow
	}
	entries, err := agent.Source.ReadDir(".")
	if err != nil {
		return nil, ModeNative, err
	}
	for _, e := range entries {
		text, err := agent.Source.ReadFile(e.Name())
		if err != nil {
			return nil, ModeNative, err
		}
		files["internal/fuzz/teasel_"+e.Name()] = packageClause.ReplaceAll(text, []byte("package fuzz"))
	}
	if files["os/teasel_exit.go"], err = added.ReadFile("patch/exit.go.txt"); err != nil {
		return nil, ModeNative, err
	}
	for _, name := range [...]string{"trace.go", "teasel.go"} {
		if files["internal/fuzz/"+name], err = added.ReadFile("patch/" + name + ".txt"); err != nil {
			return nil, ModeNative, err
		}
	}
	if mode == ModeFast { // package testing can import internal/fuzz
		if files["testing/teasel_record.go"], err = added.ReadFile("patch/record.go.txt"); err != nil {
			return nil, ModeNative, err
		}
	}
	files["internal/fuzz/teasel_mode.go"] = fmt.Appendf(nil, "package fuzz\n\nconst teaselFast = %t\n", mode == ModeFast)
	return files, mode, why
}
