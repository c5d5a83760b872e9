package check_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/check"
)

func ExampleMeasuresTime() {
	fmt.Println(check.MeasuresTime(check.Repeat), check.MeasuresTime(check.GrowthTime))
	// Output: false true
}
