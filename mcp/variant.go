package mcp

import "github.com/teaselfuzz/teasel/mutate"

// maxVariants is how many other choices of a tool are probed for security.
const maxVariants = 6

// choices returns the values that a property may have if there are only some; nil: any.
func choices(property *mutate.JSON) (values []*mutate.JSON) {
	if enum := property.Get("enum"); enum != nil && enum.Kind == mutate.Array {
		return enum.Items
	}
	if kind, _ := property.Get("type").Str(); kind == "boolean" {
		return []*mutate.JSON{mutate.NewBool(true), mutate.NewBool(false)}
	}
	return nil
}

// variants returns the full arguments with each choice made in another way, one at a time: what a text does may depend on
// a mode.
func (c *callable) variants() (all []*mutate.JSON) {
	properties := c.InputSchema.Get("properties")
	if properties == nil || c.schema == nil || c.full.Kind != mutate.Object {
		return nil
	}
	for _, m := range properties.Members {
		for _, value := range choices(m.Value) {
			if value == nil || len(all) == maxVariants {
				continue
			}
			v := c.full.Clone()
			v.Set(m.Name, value.Clone())
			if now := c.full.Get(m.Name); (now == nil || now.String() != value.String()) && c.schema.Validate(v) == nil {
				all = append(all, v)
			}
		}
	}
	return all
}

// switchedOn returns the full arguments with all that can be switched on.
func (c *callable) switchedOn() *mutate.JSON {
	v := c.full
	if properties := c.InputSchema.Get("properties"); properties != nil && c.schema != nil && v.Kind == mutate.Object {
		for _, m := range properties.Members {
			if kind, _ := m.Value.Get("type").Str(); kind != "boolean" {
				continue
			}
			on := v.Clone()
			on.Set(m.Name, mutate.NewBool(true))
			if c.schema.Validate(on) == nil {
				v = on
			}
		}
	}
	return v
}

// eachMode is eachText for the other choices of tools.
func (b *repertoire) eachMode(visit func(name string, line func(text string) []byte)) {
	for _, t := range b.tools {
		for i, v := range t.variants() {
			for _, pointer := range t.texts[:min(maxProbed, len(t.texts))] {
				visit(t.Name+" "+pointer+" variant "+itoa(i), func(text string) []byte { return t.callWith(withText(v, pointer, text)) })
			}
		}
	}
}
