package glob_test

import (
	"fmt"
	"path/filepath"

	"github.com/teaselfuzz/teasel/internal/glob"
)

func ExampleEscape() {
	pattern := filepath.Join(glob.Escape("out[1]"), "*.json")
	fmt.Println(filepath.Match(pattern, "out[1]/a.json"))
	// Output: true <nil>
}
