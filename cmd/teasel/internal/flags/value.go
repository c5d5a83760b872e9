package flags

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
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

// Named returns the value of a flag that names something, such as a file or an address. An empty text names nothing: most often it comes from a
// variable that is not set, and a run without what the flag is for would not be what was asked for.
func Named(value *string) pflag.Value { return namedValue{value} }

type namedValue struct{ value *string }

func (n namedValue) String() string {
	if n.value == nil {
		return ""
	}
	return *n.value
}

func (n namedValue) Type() string { return "string" }

func (n namedValue) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errEmpty
	}
	*n.value = text
	return nil
}

var errEmpty = errors.New("it is empty: leave the flag out, or set the variable that it comes from")

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

// positiveKey is the annotation of a flag that takes no 0.
const positiveKey = "teasel_positive"

// SetPositive says that a flag takes no 0, for CheckNumbers.
func SetPositive(fs *pflag.FlagSet, name string) {
	_ = fs.SetAnnotation(name, positiveKey, nil) // it is there
}

// CheckNumbers refuses negative numbers, of which no flag takes one, and 0 where it makes no sense.
func CheckNumbers(fs *pflag.FlagSet) (err error) {
	fs.VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "duration", "float64":
			least := 0
			if _, ok := f.Annotations[positiveKey]; ok {
				least = 1
			}
			if text := f.Value.String(); err == nil && (strings.HasPrefix(text, "-") || least == 1 && text == "0") {
				err = exit.Usage("", "--%s %s: expected %d or more", f.Name, text, least)
			}
		}
	})
	return err
}

// valueType is what there is to say about the values of flags of a type.
type valueType struct {
	typed string // what is expected on the command line; "": the error of the type says it
	want  string // what is expected in the configuration file
	fits  func(value any) bool
}

// valueTypes are the types of flags, by name. Those that are not here take one of a fixed set of texts.
var valueTypes = map[string]valueType{
	"bool":        {"true or false", "true or false", is[bool]},
	"int":         {"a whole number", "a whole number", is[int64]},
	"uint64":      {"a whole number, 0 or more", "a whole number, 0 or more", func(v any) bool { n, ok := v.(int64); return ok && n >= 0 }},
	"float64":     {"a number such as 0.5", "a number such as 0.5", func(v any) bool { return is[float64](v) || is[int64](v) }},
	"duration":    {"a duration such as 30s or 5m", `a text such as "30s"`, is[string]},
	"size":        {"", `a text such as "2GiB"`, is[string]},
	"string":      {"", "a text in quotes", is[string]},
	"stringArray": {"", `a list such as ["node", "server.js"]`, all[string]},
	"stringSlice": {"", `a list such as ["node", "server.js"]`, all[string]},
	reportType:    {"", `a list such as ["sarif=teasel.sarif"]`, all[string]},
	"intSlice":    {"a whole number", "a list such as [3, 4]", all[int64]},
	"stringToInt": {"", "a table of whole numbers", func(v any) bool {
		t, ok := v.(table)
		return ok && !slices.ContainsFunc(slices.Collect(maps.Values(t)), func(v any) bool { return !is[int64](v) })
	}},
}

// typeOf returns what there is to say about the values of a flag.
func typeOf(f *pflag.Flag) valueType {
	if t, ok := valueTypes[f.Value.Type()]; ok {
		return t
	}
	return valueTypes["string"]
}

// is reports whether a value is of a type.
func is[T any](value any) bool { _, ok := value.(T); return ok }

// all reports whether a value is a list of one type.
func all[T any](value any) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool { return !is[T](v) })
}

// BadValue returns an error that says what was expected, for the library's about the value of a flag.
func BadValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := typeOf(invalid.GetFlag()).typed
	if expected == "" { // its type is one of ours, whose error says it
		return fmt.Errorf("%q: %w", invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%q: expected %s", invalid.GetValue(), expected)
}
