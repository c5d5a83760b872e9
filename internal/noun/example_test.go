package noun_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/internal/noun"
)

func ExampleCount() {
	fmt.Println(noun.Count(1, "input", ""), noun.Count(2, "input", ""), noun.Count(0, "entry", "entries"))
	// Output: 1 input 2 inputs 0 entries
}
