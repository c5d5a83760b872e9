// Package testrun has what the tests of several packages need that start real programs: more of them at a time than there are
// processors, and each program compiled once.
package testrun

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Parallel lets at least n of the tests that may run side by side do so, unless -parallel says how many. It suits tests that wait for
// programs most of the time. TestMain calls it.
func Parallel(n int) error {
	flag.Parse()
	f := flag.Lookup("test.parallel")
	if f.Value.String() != f.DefValue {
		return nil
	}
	if err := flag.Set(f.Name, strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))); err != nil {
		return fmt.Errorf("setting how many tests run side by side: %w", err)
	}
	return nil
}

// Compile makes the program out by calling compile, which writes it there, once for each recipe: what the build depends on. Further
// calls with the recipe link the program that folder has kept, also those of tests that run side by side.
func Compile(t testing.TB, folder, out string, compile func(out string), recipe ...string) {
	t.Helper()
	hash := sha256.Sum256([]byte(strings.Join(recipe, "\x00")))
	kept := filepath.Join(folder, hex.EncodeToString(hash[:]))
	err := os.Link(kept, out)
	if errors.Is(err, fs.ErrNotExist) {
		compile(out)
		err = os.Link(out, kept)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // a parallel test has compiled it meanwhile
		t.Fatal(err)
	}
}
