package observe_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/observe"
)

func ExampleFindFault() {
	fault := observe.FindFault([]byte("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n"))
	fmt.Println(fault.Line)
	// Output: KeyError: 'x'
}
