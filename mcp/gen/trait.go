package gen

import (
	"math/bits"

	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mutate"
)

// trait is one thing that a value is: at a place, of a kind, of a size, or a value that occurs again and again. absent
// is one too.
type trait = uint64

// absent is the trait of a place that a value does not have.
func absent(pointer string) trait { return observe.HashString(observe.Offset64, pointer) }

func exactTrait(pointer string, v *mutate.JSON) trait {
	h := observe.HashNumber(observe.HashString(observe.Offset64, pointer), uint64(v.Kind))
	switch v.Kind {
	case mutate.Array, mutate.Object:
		return h
	}
	return observe.HashString(h, v.Text)
}

func sizeTrait(pointer string, v *mutate.JSON) trait {
	h := observe.HashNumber(observe.HashString(observe.Offset64, pointer), uint64(v.Kind))
	size := 0
	switch v.Kind {
	case mutate.Array:
		size = min(len(v.Items), 4)
	case mutate.Object:
		size = min(len(v.Members), 1)
	case mutate.String:
		size = bits.Len(uint(len(v.Text)))
	case mutate.Number:
		size = len(v.Text)
		if v.Text[0] == '-' {
			size = -size
		}
	}
	return observe.HashNumber(h, uint64(size)+1)
}

func eachPair(traits []trait, visit func(pair uint64)) {
	if len(traits) == 1 {
		visit(traits[0])
	}
	for i, a := range traits {
		for _, b := range traits[i+1:] {
			visit(observe.HashNumber(observe.HashNumber(observe.Offset64, a), b))
		}
	}
}
