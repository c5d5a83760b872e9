package check_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/check"
)

func ExampleLabels() {
	fmt.Println(len(check.Labels()), check.Repeat, check.MeasuresTime(check.Repeat), check.MeasuresTime(check.GrowthTime))
	// Output: 40 repeat false true
}
