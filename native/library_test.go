package native_test

import (
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// TestComparisonsInLibraries: comparisons in C++'s library are recorded, with and without a sanitizer.
func TestComparisonsInLibraries(t *testing.T) {
	for _, flags := range [][]string{nil, {"-fsanitize=address"}} {
		bin := filepath.Join(t.TempDir(), "target")
		compile(t, clang.Compiler{CXX: true}, append(flags, filepath.Join("testdata", "mapped.cc"), "-o", bin)...)
		puzzle(t, "mapped.cc", bin, 1)
	}
}
