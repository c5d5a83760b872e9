package desk

import (
	"fmt"
	"slices"
	"strings"
)

// AddLimit bounds both operands of the add tool, so that no sum overflows.
const AddLimit = 1_000_000

// Units are the lengths that Convert knows, in the order they are offered.
var Units = []string{"mm", "m", "km", "inch", "mile"}

var metres = map[string]float64{"mm": 0.001, "m": 1, "km": 1000, "inch": 0.0254, "mile": 1609.344}

// Convert returns a length given in one unit in another.
func Convert(value float64, from, to string) (float64, error) {
	f, ok := metres[from]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", from)
	}
	t, ok := metres[to]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", to)
	}
	return value * f / t, nil
}

// CompleteUnit returns the units that start with prefix; never nil, which
// would become null on the wire.
func CompleteUnit(prefix string) []string {
	found := make([]string, 0, len(Units))
	for _, u := range Units {
		if strings.HasPrefix(u, prefix) {
			found = append(found, u)
		}
	}
	return found
}

// Summary is the structured output of the summarize tool.
type Summary struct {
	Count int     `json:"count" jsonschema:"how many numbers there were"`
	Min   float64 `json:"min" jsonschema:"the smallest"`
	Max   float64 `json:"max" jsonschema:"the largest"`
	Mean  float64 `json:"mean" jsonschema:"the arithmetic mean"`
}

// Summarize describes a list of at least one number.
func Summarize(numbers []float64) (Summary, error) {
	if len(numbers) == 0 {
		return Summary{}, fmt.Errorf("no numbers given")
	}
	s := Summary{Count: len(numbers), Min: slices.Min(numbers), Max: slices.Max(numbers)}
	for _, x := range numbers {
		// Dividing first keeps the mean of huge numbers finite: JSON has no infinity.
		s.Mean += x / float64(len(numbers))
	}
	return s, nil
}

// Manual is the text of the static resource.
const Manual = "Open a note, append to it with the handle you got, close it to read it back.\n"

// ReviewPrompt is the text of the review prompt.
func ReviewPrompt(subject, unit string) string {
	if unit == "" {
		unit = "m"
	}
	return fmt.Sprintf("Review %s; give every length in %s.", subject, unit)
}
