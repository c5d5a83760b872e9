package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
)

// Size is a number of bytes, written with or without a unit.
type Size uint64

var units = []struct {
	suffix string
	factor uint64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// String implements [pflag.Value].
func (s Size) String() string {
	for _, u := range units[:4] {
		if s > 0 && uint64(s)%u.factor == 0 {
			return strconv.FormatUint(uint64(s)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatUint(uint64(s), 10)
}

// Set implements [pflag.Value].
func (s *Size) Set(text string) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || n < 0 || n*float64(u.factor) > 1<<62 {
			break
		}
		if u.suffix == "" && n > 0 && n < 1<<20 { // in other tools it means megabytes
			return fmt.Errorf("expected a size with its unit, such as %sMB", text)
		}
		*s = Size(n * float64(u.factor))
		return nil
	}
	return fmt.Errorf("expected a size such as 300MB or 2GiB")
}

// Type implements [pflag.Value].
func (s *Size) Type() string { return "size" }

// Choice returns the value of a flag that takes one of a fixed set.
func Choice(value *string, choices []string) pflag.Value { return choiceValue{value, choices} }

type choiceValue struct {
	value   *string
	choices []string
}

func (c choiceValue) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choiceValue) Choices() []string { return c.choices }

func (c choiceValue) Type() string { return strings.Join(c.choices, "|") }

func (c choiceValue) Set(text string) error {
	for _, v := range c.choices {
		if v == text {
			*c.value = text
			return nil
		}
	}
	return fmt.Errorf("expected one of %s", strings.Join(c.choices, ", "))
}

// Severity returns the value of a flag that takes a severity from low on.
func Severity(value *teasel.Severity) pflag.Value { return severityValue{value} }

type severityValue struct{ value *teasel.Severity }

func (s severityValue) String() string {
	if s.value == nil {
		return ""
	}
	return s.value.String()
}

func (s severityValue) Choices() []string { return strings.Split(s.Type(), "|") }

func (s severityValue) Type() string { return "low|medium|high|critical" }

func (s severityValue) Set(text string) error {
	v, err := teasel.ParseSeverity(text)
	if err != nil || v < teasel.Low { // info does not fail a run
		return fmt.Errorf("expected low, medium, high or critical")
	}
	*s.value = v
	return nil
}

// BadValue returns an error that says what was expected, for the library's about the value of a flag.
func BadValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := map[string]string{
		"duration": "a duration such as 30s or 5m",
		"int":      "a whole number",
		"intSlice": "a whole number",
		"uint64":   "a whole number, 0 or more",
		"float64":  "a number such as 0.5",
		"bool":     "true or false",
	}[invalid.GetFlag().Value.Type()]
	if expected == "" { // its type is one of ours, whose error says it
		return fmt.Errorf("%q: %w", invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%q: expected %s", invalid.GetValue(), expected)
}
