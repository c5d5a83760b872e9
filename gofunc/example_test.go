package gofunc_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

type temperature struct {
	Degrees int
	Unit    string
}

// FuzzTemperature is a fuzz test over a structure. In a test file its name begins with Fuzz, and go test finds it.
func ExampleFuzz() {
	FuzzTemperature := func(f *testing.F) {
		gofunc.Fuzz(f, func(t *testing.T, in temperature) {
			gofunc.RoundTrip(t, in.Degrees, func(n int) ([]byte, error) {
				return []byte(strconv.Itoa(n)), nil
			}, func(b []byte) (int, error) {
				return strconv.Atoi(string(b))
			})
		}, temperature{21, "C"})
	}
	_ = FuzzTemperature
}

// A test may describe its inputs more closely than their type does.
func ExampleTest() {
	FuzzTemperature := func(f *testing.F) {
		test := gofunc.Test[temperature]{
			Mutator: typed.Of[temperature](
				typed.Field[temperature]("Degrees", typed.Range(-273, 10_000)),
				typed.Field[temperature]("Unit", typed.OneOf("C", "F")),
			),
		}
		test.Fuzz(f, func(t *testing.T, in temperature) {
			gofunc.Observe(uint64(in.Degrees / 100))
		})
	}
	_ = FuzzTemperature
}

func ExampleCompare() {
	fmt.Println(gofunc.Compare("checksum", 7, 8), gofunc.Compare("checksum", 8, 8))
	// Output: false true
}
