package mcp

import (
	"strconv"

	"github.com/teaselfuzz/teasel/mutate"
)

// maxVariants is how many other choices of a tool are probed for security.
const maxVariants = 6

// choices returns the values that a property may have if there are only some; nil: any.
func choices(property *mutate.JSON) (values []*mutate.JSON) {
	if enum := property.Get("enum"); enum != nil && enum.Kind == mutate.Array {
		return enum.Items
	}
	if isSwitch(property) {
		return []*mutate.JSON{mutate.NewBool(true), mutate.NewBool(false)}
	}
	return nil
}

// isSwitch reports whether a property is on or off.
func isSwitch(property *mutate.JSON) bool {
	kind, _ := property.Get("type").Str()
	return kind == "boolean"
}

// properties returns what the schema says of each argument.
func (c *callable) properties() []mutate.Member {
	if properties := c.InputSchema.Get("properties"); properties != nil && c.schema != nil && c.full.Kind == mutate.Object {
		return properties.Members
	}
	return nil
}

// changed returns arguments with one property set anew; nil: the schema does not allow it.
func (c *callable) changed(arguments *mutate.JSON, name string, value *mutate.JSON) *mutate.JSON {
	v := arguments.Clone()
	if v.Set(name, value.Clone()); c.schema.Validate(v) != nil {
		return nil
	}
	return v
}

// variants returns the full arguments with each choice made in another way, one at a time: what a text does may depend on
// a mode.
func (c *callable) variants() (all []*mutate.JSON) {
	for _, m := range c.properties() {
		now := c.full.Get(m.Name)
		for _, value := range choices(m.Value) {
			if value == nil || len(all) == maxVariants || now != nil && now.String() == value.String() {
				continue
			}
			if v := c.changed(c.full, m.Name, value); v != nil {
				all = append(all, v)
			}
		}
	}
	return all
}

// switchedOn returns the full arguments with all that can be switched on.
func (c *callable) switchedOn() *mutate.JSON {
	v := c.full
	for _, m := range c.properties() {
		if !isSwitch(m.Value) {
			continue
		}
		if on := c.changed(v, m.Name, mutate.NewBool(true)); on != nil {
			v = on
		}
	}
	return v
}

// eachMode is eachText for the other choices of tools.
func (b *repertoire) eachMode(visit func(name string, line func(text string) []byte)) {
	for _, t := range b.tools {
		for i, v := range t.variants() {
			t.eachText(t.Name+" variant "+strconv.Itoa(i), v, visit)
		}
	}
}

// eachText passes on the places in the tool's arguments that take free text.
func (c *callable) eachText(name string, arguments *mutate.JSON, visit func(name string, line func(text string) []byte)) {
	for _, pointer := range c.texts[:min(maxProbed, len(c.texts))] {
		visit(name+" "+pointer, func(text string) []byte { return c.callWith(withText(arguments, pointer, text)) })
	}
}

// maxProbed is how many strings of a tool are probed for security.
const maxProbed = 6

// inform puts what was learned of the server into the tool's examples, where the schema allows it: where two arguments
// take the same, each another.
func (c *callable) inform(learned map[string][]string) {
	used := make(map[string]int)
	for _, property := range c.properties() {
		values := learned[property.Name]
		if len(values) == 0 {
			continue
		}
		first := values[0]
		values = values[used[first]%len(values):]
		used[first]++
		for _, example := range []**mutate.JSON{&c.plain, &c.full} {
			if (*example).Get(property.Name) == nil {
				continue
			}
			for _, value := range append([]*mutate.JSON{mutate.NewString(values[0])}, numbers(values[:1])...) {
				if better := c.changed(*example, property.Name, value); better != nil {
					*example = better
					break
				}
			}
		}
	}
}
