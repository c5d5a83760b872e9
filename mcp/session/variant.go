package session

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

// Properties returns what the schema says of each argument.
func (c *Operation) Properties() []mutate.Member {
	if properties := c.InputSchema.Get("properties"); properties != nil && c.Schema != nil && c.Full.Kind == mutate.Object {
		return properties.Members
	}
	return nil
}

// changed returns arguments with one property set anew; nil: the schema does not allow it.
func (c *Operation) changed(arguments *mutate.JSON, name string, value *mutate.JSON) *mutate.JSON {
	v := arguments.Clone()
	if v.Set(name, value.Clone()); c.Schema.Validate(v) != nil {
		return nil
	}
	return v
}

// Variants returns the full arguments with each choice made in another way, one at a time: what a text does may depend on
// a mode.
func (c *Operation) Variants() (all []*mutate.JSON) {
	for _, m := range c.Properties() {
		now := c.Full.Get(m.Name)
		for _, value := range choices(m.Value) {
			if value == nil || len(all) == maxVariants || now != nil && now.String() == value.String() {
				continue
			}
			if v := c.changed(c.Full, m.Name, value); v != nil {
				all = append(all, v)
			}
		}
	}
	return all
}

// SwitchedOn returns the full arguments with all that can be switched on.
func (c *Operation) SwitchedOn() *mutate.JSON {
	v := c.Full
	for _, m := range c.Properties() {
		if !isSwitch(m.Value) {
			continue
		}
		if on := c.changed(v, m.Name, mutate.NewBool(true)); on != nil {
			v = on
		}
	}
	return v
}

// EachMode is eachText for the other choices of tools.
func (b *Catalog) EachMode(visit func(name string, line func(text string) []byte)) {
	for _, t := range b.Tools {
		for i, v := range t.Variants() {
			t.EachText(t.Name+" variant "+strconv.Itoa(i), v, visit)
		}
	}
}

// EachText passes on the places in the tool's arguments that take free text.
func (c *Operation) EachText(name string, arguments *mutate.JSON, visit func(name string, line func(text string) []byte)) {
	for _, pointer := range c.Texts[:min(MaxProbed, len(c.Texts))] {
		visit(name+" "+pointer, func(text string) []byte { return c.CallWith(WithText(arguments, pointer, text)) })
	}
}

// MaxProbed is how many strings of a tool are probed for security.
const MaxProbed = 6

// inform puts what was learned of the server into the tool's examples, where the schema allows it: where two arguments
// take the same, each another.
func (c *Operation) inform(learned map[string][]string) {
	used := make(map[string]int)
	for _, property := range c.Properties() {
		values := learned[property.Name]
		if len(values) == 0 {
			continue
		}
		first := values[0]
		values = values[used[first]%len(values):]
		used[first]++
		for _, example := range []**mutate.JSON{&c.Plain, &c.Full} {
			if (*example).Get(property.Name) == nil {
				continue
			}
			for _, value := range append([]*mutate.JSON{mutate.NewString(values[0])}, Numbers(values[:1])...) {
				if better := c.changed(*example, property.Name, value); better != nil {
					*example = better
					break
				}
			}
		}
	}
}
