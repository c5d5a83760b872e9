package gen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// What is drawn of a tool's arguments to choose samples from, and how many are chosen.
const (
	sampleDraws  = 128
	sampleEdges  = 256
	maxSamples   = 80
	minSamples   = 8
	allSamples   = 3072 // of all tools together, about
	maxSample    = 2 << 10
	maxCombined  = 12 // places whose values are combined
	maxValues    = 8  // of one place
	maxRange     = 16 // integers of a range all of which are combined
	commonValues = 3  // times that a value was drawn, then it is told apart from others of its size
)

// samplesOf returns conform arguments in which, as far as so many can, every two values of two properties occur together
// once: each value of an enum with each of another, an edge of one number with an edge of another, one property given
// without another. Most faults that hide behind conditions need two of them (Kuhn, Wallace and Gallo, "Software Fault
// Interactions and Implications for Software Testing", 2004).
func samplesOf(c *session.Operation, words session.Vocabulary, most int) []*mutate.JSON {
	if c.Schema == nil || len(c.Plain.Append(nil)) > maxSample { // no smaller ones are to be expected
		return nil
	}
	s := sampler{Operation: c, most: most, seen: make(map[uint64]bool)}
	s.draw(words)
	s.describe()
	s.enumerate()
	s.combine()
	for i, v := range s.pool { // what combining does not come to: properties left out, and arrays and objects within others
		if s.fresh(s.traits[i]) > 0 {
			s.choose(v, s.traits[i])
		}
	}
	return s.chosen
}

// Bounds of the echoes of one tool.
const (
	maxEchoed = 8  // places
	maxEchoes = 16 // calls
)

// correlatedArguments returns conform arguments in which the text of one place stands in another as well: of those drawn in which
// there are the most places.
func correlatedArguments(c *session.Operation) (all []*mutate.JSON) {
	if c.Schema == nil {
		return nil
	}
	var most *mutate.JSON
	var places []string
	r := session.FixedRand(3)
	for range session.ExampleCount {
		v, _ := c.Schema.Generate(r, schema.Conform)
		if v.Kind == mutate.Object {
			c.DropExtras(v)
		}
		if leaves := session.StringLeaves(v); len(leaves) > len(places) && len(leaves) <= maxEchoed {
			most, places = v, leaves
		}
	}
	for i, p := range places {
		for _, q := range places[i+1:] {
			if len(all) == maxEchoes {
				return all
			}
			for _, echo := range [][2]string{{p, q}, {q, p}} {
				if v := session.WithText(most, echo[1], most.At(echo[0]).Text); !v.Equal(most) && c.Schema.Validate(v) == nil {
					all = append(all, v)
					break
				}
			}
		}
	}
	return all
}

// sampler chooses samples of a tool's arguments.
type sampler struct {
	*session.Operation
	most   int
	pool   []*mutate.JSON
	traits [][]trait // of each of the pool, by place
	places []string  // pointers, sorted
	values [][]value // by place
	seen   map[uint64]bool
	chosen []*mutate.JSON
}

// value is a value of a place that stands for all of one trait.
type value struct {
	trait trait
	json  *mutate.JSON
}

// choose takes a value for a sample.
func (s *sampler) choose(v *mutate.JSON, traits []trait) {
	if len(s.chosen) < s.most {
		s.chosen = append(s.chosen, v)
		eachPair(traits, func(pair uint64) { s.seen[pair] = true })
	}
}

// fresh counts the pairs of traits that no sample has.
func (s *sampler) fresh(traits []trait) (n int) {
	eachPair(traits, func(pair uint64) {
		if !s.seen[pair] {
			n++
		}
	})
	return n
}

// combine makes samples for pairs that are still missing, and gives their other places values that are missing too.
func (s *sampler) combine() {
	base := s.fullest()
	if base < 0 {
		return
	}
	for p := range s.places {
		for q := p + 1; q < len(s.places); q++ {
			for _, a := range s.values[p] {
				for _, b := range s.values[q] {
					if len(s.chosen) < s.most && !s.seen[observe.HashNumber(observe.HashNumber(observe.Offset64, a.trait), b.trait)] {
						s.assemble(base, p, q, a, b)
					}
				}
			}
		}
	}
}

// fullest returns which of the pool has the most places; -1: there is none.
func (s *sampler) fullest() int {
	best, most := -1, 0
	for i := range s.pool {
		n := 0
		for p, t := range s.traits[i] {
			if t != absent(s.places[p]) {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// assemble makes a sample that has two values in two places. If it does not conform with the best values in the others,
// they stay as they are.
func (s *sampler) assemble(base, p, q int, a, b value) {
	for _, others := range []bool{true, false} {
		v, traits := s.pool[base].Clone(), slices.Clone(s.traits[base])
		ok := s.set(v, traits, p, a) && s.set(v, traits, q, b)
		for o := range s.places {
			if others && o != p && o != q && ok && traits[o] != absent(s.places[o]) {
				s.setBest(v, traits, o)
			}
		}
		if ok && s.Schema.Validate(v) == nil {
			s.choose(v, traits)
			return
		}
	}
}

func (s *sampler) set(v *mutate.JSON, traits []trait, place int, x value) bool {
	at := v.At(s.places[place])
	if at == nil {
		return false
	}
	*at = *x.json.Clone()
	traits[place] = x.trait
	return true
}

// setBest gives a place the value that makes the most missing pairs.
func (s *sampler) setBest(v *mutate.JSON, traits []trait, place int) {
	best, most := -1, 0
	for i, x := range s.values[place] {
		n := 0
		for o, t := range traits {
			first, second := t, x.trait
			if o > place {
				first, second = second, first
			}
			if o != place && !s.seen[observe.HashNumber(observe.HashNumber(observe.Offset64, first), second)] {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	if best >= 0 {
		s.set(v, traits, place, s.values[place][best])
	}
}

// draw fills the pool: with what the server mentions, with what is on the edges of the schema, and with others.
func (s *sampler) draw(words session.Vocabulary) {
	r := session.FixedRand(3)
	add := func(v *mutate.JSON) {
		if v != nil && v.Kind == mutate.Object && len(v.Append(nil)) <= maxSample {
			s.DropExtras(v)
			s.pool = append(s.pool, v)
		}
	}
	mentionedValues(s.Operation, words, add)
	edges := s.Schema.Boundaries(r)
	for _, b := range edges[:min(len(edges), sampleEdges)] {
		add(b.Value)
	}
	for range sampleDraws {
		v, _ := s.Schema.Generate(r, schema.Conform)
		add(v)
	}
}

// mentionedValues passes on the full arguments with one text or number that the server mentions, where the schema allows it.
func mentionedValues(c *session.Operation, words session.Vocabulary, add func(*mutate.JSON)) {
	c.Full.Walk(func(pointer string, leaf *mutate.JSON) bool {
		var values []*mutate.JSON
		known := words[lastName(pointer)]
		switch leaf.Kind {
		case mutate.String:
			for _, w := range known {
				values = append(values, mutate.NewString(w))
			}
		case mutate.Number:
			values = session.Numbers(known)
		}
		for _, value := range values {
			v := c.Full.Clone()
			if at := v.At(pointer); at != nil {
				*at = *value
			}
			if c.Schema.Validate(v) == nil {
				add(v)
			}
		}
		return true
	})
}

// lastName returns the name of the member that a pointer leads to, of an array's items the array's.
func lastName(pointer string) string {
	for {
		i := len(pointer)
		for i > 0 && pointer[i-1] != '/' {
			i--
		}
		name := pointer[i:]
		if i == 0 {
			return name
		}
		if name != "" && (name[0] < '0' || name[0] > '9') {
			return script.Unpoint.Replace(name)
		}
		pointer = pointer[:i-1]
	}
}

// describe lists the places of the pool, the values that each of them has, and the traits of all of the pool.
func (s *sampler) describe() {
	exact := make(map[trait]int)
	found := make(map[string]int)
	for _, v := range s.pool {
		eachPlace(v, func(pointer string, leaf *mutate.JSON) {
			exact[exactTrait(pointer, leaf)]++
			found[pointer]++
		})
	}
	for pointer := range found {
		s.places = append(s.places, pointer)
	}
	slices.SortFunc(s.places, func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
	})
	s.places = s.places[:min(len(s.places), maxCombined)]
	slices.Sort(s.places)
	s.values = make([][]value, len(s.places))
	for _, v := range s.pool {
		traits := make([]trait, len(s.places))
		for p, pointer := range s.places {
			traits[p] = absent(pointer)
		}
		eachPlace(v, func(pointer string, leaf *mutate.JSON) {
			p, ok := slices.BinarySearch(s.places, pointer)
			if !ok {
				return
			}
			t := exactTrait(pointer, leaf)
			if exact[t] < commonValues || leaf.Kind == mutate.Array || leaf.Kind == mutate.Object {
				t = sizeTrait(pointer, leaf)
			}
			traits[p] = t
			if leaf.Kind != mutate.Object && len(s.values[p]) < maxValues && !slices.ContainsFunc(s.values[p], func(x value) bool { return x.trait == t }) {
				s.values[p] = append(s.values[p], value{t, leaf})
			}
		})
		s.traits = append(s.traits, traits)
	}
}

// enumerate gives places that take a few integers only all of those for values.
func (s *sampler) enumerate() {
	for p, pointer := range s.places {
		at := s.InputSchema
		for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			at = at.Get("properties").Get(script.Unpoint.Replace(name))
		}
		if kind, _ := at.Get("type").Str(); kind != "integer" {
			continue
		}
		low, lowOK := at.Get("minimum").Int()
		high, highOK := at.Get("maximum").Int()
		if !lowOK || !highOK || high < low || high-low >= maxRange {
			continue
		}
		s.values[p] = s.values[p][:0]
		for n := low; n <= high; n++ {
			v := mutate.NewInt(n)
			s.values[p] = append(s.values[p], value{exactTrait(pointer, v), v})
		}
	}
}

// eachPlace visits the values below v that stand in objects; of arrays their lengths are enough.
func eachPlace(v *mutate.JSON, visit func(pointer string, leaf *mutate.JSON)) {
	var below func(prefix string, v *mutate.JSON)
	below = func(prefix string, v *mutate.JSON) {
		for _, m := range v.Members {
			if m.Value == nil {
				continue
			}
			pointer := prefix + "/" + escapePointer(m.Name)
			visit(pointer, m.Value)
			if m.Value.Kind == mutate.Object {
				below(pointer, m.Value)
			}
		}
	}
	below("", v)
}
