package spelling_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/internal/spelling"
)

func Example() {
	fmt.Println(spelling.Distance("timout", "timeout"), spelling.Distance("", "out"), spelling.Distance("seed", "seed"))
	// Output: 1 3 0
}
