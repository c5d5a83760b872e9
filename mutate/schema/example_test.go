package schema_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel/mutate/schema"
)

func Example() {
	s, err := schema.Compile([]byte(`{
		"type": "object",
		"properties": {"n": {"type": "integer", "minimum": 1, "maximum": 10}},
		"required": ["n"], "additionalProperties": false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	v, _ := s.Generate(r, schema.Conform)
	fmt.Println(v, s.Validate(v) == nil)
	for _, violation := range s.Violations() {
		if violation.Keyword == "maximum" && violation.How == "just outside" {
			v := s.Break(r, violation)
			fmt.Println(violation, "by", v, s.Validate(v) == nil)
		}
	}
	// Output:
	// {"n":1} true
	// maximum at /n by {"n":11} false
}

func ExampleCompile_skipped() {
	_, err := schema.Compile([]byte(`{"type": "object", "properties": {"a": {"$ref": "https://example.invalid/a.json"}}}`))
	if skip, ok := errors.AsType[*schema.SkipError](err); ok {
		fmt.Println(skip.Keyword, "at", skip.Where)
		fmt.Println(skip.Reason)
	}
	// Output:
	// $ref at /properties/a
	// the reference "https://example.invalid/a.json" is external, and nothing is fetched
}
