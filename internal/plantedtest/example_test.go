package plantedtest_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

// A test that runs a fuzzer on the planted server looks up the rules that the fuzzer may report for a bug.
func ExampleBug() {
	for _, b := range plantedtest.Bugs {
		if b.Name == "use-after-close" {
			fmt.Println(b.Rules, b.About)
		}
	}
	// Output: [mcp/server-crash] a closed document's buffer is nil
}
