package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Builder builds test binaries with one toolchain. It may be used by several goroutines at once.
type Builder struct {
	Toolchain *Toolchain
	Mode      Mode     // how inputs are run
	Why       error    // why they are not run in a faster way; nil: there is none
	Cgo       []string // packages that the tests reach with C code behind cgo, which has no counters; [Builder.Narrow] sets it

	file      string   // the overlay
	unreached []string // packages that are not instrumented, see Narrow
}

// CorpusEnvironment is the variable with the directory that a plain run of a fuzz test in such a binary reads its inputs
// from, instead of the package's testdata.
const CorpusEnvironment = "TEASEL_GO_CORPUS"

// Flags are those of a build that the user has chosen. The zero value has none.
type Flags struct {
	Race  bool
	Tags  string // build tags, separated by commas
	Cover string // packages whose source is covered, as -coverpkg takes them; "": none
}

// Arguments returns the flags as the go command takes them.
func (f Flags) Arguments() (args []string) {
	if f.Race {
		args = append(args, "-race")
	}
	if f.Tags != "" {
		args = append(args, "-tags="+f.Tags)
	}
	if f.Cover != "" {
		args = append(args, "-cover", "-coverpkg="+f.Cover)
	}
	return args
}

// NewBuilder writes the overlay for a toolchain below the directory cache, where it stays for later runs: the go command
// keeps what it has built with it.
func NewBuilder(t *Toolchain, cache string) (*Builder, error) {
	if err := t.settle(cache); err != nil {
		return nil, err
	}
	all, err := t.userOverlay()
	if err != nil {
		return nil, err
	}
	path := func(name string) string { return filepath.Join(t.Root, "src", filepath.FromSlash(name)) }
	files, mode, why := patched(func(name string) ([]byte, error) {
		if by := all[path(name)]; by != "" {
			return os.ReadFile(by)
		}
		return os.ReadFile(path(name))
	})
	b := &Builder{Toolchain: t, Mode: mode, Why: why}
	if mode == ModeNative {
		return b, nil
	}
	replace := map[string]string{}
	maps.Copy(replace, all)
	names := slices.Sorted(maps.Keys(files))
	hash := sha256.New()
	for _, name := range names {
		fmt.Fprintf(hash, "%s %d %s", path(name), len(files[name]), files[name])
	}
	dir := filepath.Join(cache, "overlay-"+hex.EncodeToString(hash.Sum(nil))[:16])
	for _, name := range names {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := write(to, files[name]); err != nil {
			return nil, fmt.Errorf("writing the overlay: %w", err)
		}
		replace[path(name)] = to
	}
	text, err := json.MarshalIndent(replacements{replace}, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	sum := sha256.Sum256(text) // a user's overlay may differ from run to run
	b.file = filepath.Join(dir, "overlay-"+hex.EncodeToString(sum[:])[:16]+".json")
	if err := write(b.file, text); err != nil {
		return nil, fmt.Errorf("writing the overlay: %w", err)
	}
	return b, nil
}

// write leaves a file alone that is there with the same content, and never shows half of one to another process.
func write(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// plain are the packages that are not instrumented: those that run while an input does and tell nothing of it, and those
// whose functions the hooks use. They are the ones that go test -fuzz leaves out, and ours.
var plain = []string{"context", "internal/fuzz", "internal/godebug", "internal/race", "internal/runtime/...", "internal/sync",
	"reflect", "runtime/...", "sync/...", "syscall", "testing/...", "time",
	// What a typed test brings into the process: its own fuzzer.
	"github.com/teaselfuzz/teasel", "github.com/teaselfuzz/teasel/exchange/...", "github.com/teaselfuzz/teasel/gofunc", "github.com/teaselfuzz/teasel/gofunc/agent", "github.com/teaselfuzz/teasel/gofunc/judge", "github.com/teaselfuzz/teasel/gofunc/link",
	"github.com/teaselfuzz/teasel/internal/...", "github.com/teaselfuzz/teasel/mutate/...", "github.com/teaselfuzz/teasel/policy"}

// Build writes the test binary of the package in dir to output. An error of the compiler is a [GoError].
//
// The flag -fuzz would instrument the same packages but for external tests, package x_test, and the functions that are
// inlined into them.
func (b *Builder) Build(ctx context.Context, dir string, f Flags, output string) error {
	args := []string{"test", "-c", "-vet=off", "-o", output, "-overlay=" + b.file}
	if f.Cover == "" {
		args = append(args, "-gcflags=all=-d=libfuzzer")
		for _, p := range slices.Concat(plain, b.unreached) {
			args = append(args, "-gcflags="+p+"=-d=libfuzzer=0")
		}
	}
	_, err := b.Toolchain.Run(ctx, dir, append(append(args, f.Arguments()...), ".")...)
	return err
}
