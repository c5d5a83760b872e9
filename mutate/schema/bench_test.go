package schema

import (
	"math/rand/v2"
	"testing"
)

// tool has five properties, as a typical tool.
const tool = `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100},"mode":{"type":"string","enum":["read","write"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":5},"dryRun":{"type":"boolean"}},"required":["path"],"additionalProperties":false}`

func BenchmarkGenerate(b *testing.B) {
	for _, schema := range []struct{ name, text string }{{"tool", tool}, {"composite", schemas[len(schemas)-1].schema}} {
		s := mustCompile(b, schema.text)
		for m := Conform; m <= Mixed; m++ {
			b.Run(schema.name+"/"+m.String(), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				b.ReportAllocs()
				for b.Loop() {
					s.Generate(r, m)
				}
			})
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, tool)
	v, _ := s.Generate(rand.New(rand.NewPCG(1, 1)), Conform)
	for b.Loop() {
		if err := s.Validate(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, schema := range []struct{ name, text string }{{"tool", tool}, {"composite", schemas[len(schemas)-1].schema}, {"meta-schema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`}} {
		b.Run(schema.name, func(b *testing.B) {
			for b.Loop() {
				mustCompile(b, schema.text)
			}
		})
	}
}
