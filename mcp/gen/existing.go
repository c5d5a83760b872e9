package gen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// existing is something that the server had before the campaign, and what can be done to it: the tools that take its key.
type existing struct {
	name      string   // of the first argument that takes it
	values    []string // keys, as answers show them
	consumers []consumer
}

// consumer is a tool that takes the key, in one place or in several.
type consumer struct {
	tool  *session.Operation
	links []link
}

// Bounds of the scripts about what exists.
const (
	maxExistingScripts = 96
	maxAfterwards      = 6 // other tools after one, in one script
)

// findExisting sorts the tools by what they take of what was learned. Arguments that take the same keys take the same things.
func findExisting(tools []*session.Operation, learned map[string][]string) (all []*existing) {
	by := make(map[string]*existing)
	for _, t := range tools {
		if t.Slow {
			continue
		}
		for _, property := range t.Properties() {
			values := learned[property.Name]
			if len(values) == 0 || t.Full.Get(property.Name) == nil {
				continue
			}
			key := strings.Join(values, "\x00")
			k := by[key]
			if k == nil {
				k = &existing{name: property.Name, values: values}
				by[key], all = k, append(all, k)
			}
			l := link{tool: t, property: property.Name, number: isNumber(t, property.Name)}
			if n := len(k.consumers); n > 0 && k.consumers[n-1].tool == t {
				k.consumers[n-1].links = append(k.consumers[n-1].links, l)
			} else {
				k.consumers = append(k.consumers, consumer{t, []link{l}})
			}
		}
	}
	return all
}

// call is the tool with keys in the places that take them, the last one in all that are left.
func (t *consumer) call(keys ...string) script.Step {
	v := t.tool.Plain.Clone()
	for i, l := range t.links {
		key := mutate.NewString(keys[min(i, len(keys)-1)])
		if numbers := session.Numbers([]string{key.Text}); l.number && len(numbers) > 0 {
			key = numbers[0]
		}
		v.Set(l.property, key)
	}
	return script.Send(t.tool.CallWith(v))
}

// closes reports whether what the tool is called with is gone afterwards, by its name.
func (t *consumer) closes() bool { return session.HasWord(t.tool.Name, closingVerbs) }

// last is the key of what may be gone afterwards.
func (k *existing) last() string { return k.values[len(k.values)-1] }

// scripts do one thing to what is there, then everything else, and the first again: what one call leaves behind is what
// another one trips over. A tool that takes two of a kind gets the same twice, and two of them both ways round. What may
// be gone afterwards is the last one that is known.
func (k *existing) scripts(emit func(name string, in script.Script)) {
	for i := range k.consumers {
		t := &k.consumers[i]
		key := k.values[0]
		if t.closes() {
			key = k.last()
		}
		k.after(t, key, emit, t.tool.Name+" of "+k.name, t.call(key))
		if len(t.links) > 1 && len(k.values) > 1 {
			a, b := k.values[0], k.values[1]
			k.after(t, key, emit, t.tool.Name+" both ways", t.call(a, b), t.call(b, a))
		}
	}
}

// after makes scripts that begin with calls of one tool, go on with all others and end with the first call again.
func (k *existing) after(first *consumer, key string, emit func(name string, in script.Script), name string, begin ...script.Step) {
	var others []script.Step
	for _, reads := range []bool{true, false} { // those first that look at what has become of it
		for i := range k.consumers {
			o := &k.consumers[i]
			if o != first && o.tool.Reads == reads && (key == k.last() || !o.closes()) {
				others = append(others, o.call(key))
			}
		}
	}
	if len(others) == 0 {
		emit(name, script.NewShared("", append(begin, begin[0])...))
	}
	check.Chunks(others, maxAfterwards, func(part int, others []script.Step) {
		emit(name+" "+strconv.Itoa(part), script.NewShared("", slices.Concat(begin, others, begin[:1])...))
	})
}
