package model

import "go.yaml.in/yaml/v3"

// maxValues is how many values a file may have, those that aliases repeat counted as often as they are repeated.
const maxValues = 1 << 18

// aliases reports whether a file can be read to its end: an alias that stands within its own anchor has none, and a few
// aliases of aliases can stand for more values than there is memory for.
func (l *loader) aliases(doc *yaml.Node) bool {
	left := maxValues
	above := map[*yaml.Node]bool{}
	var visit func(n *yaml.Node) bool
	visit = func(n *yaml.Node) bool {
		if left--; left < 0 {
			l.fail(n, "", "", "with its aliases the file has more than %d values", maxValues)
			return false
		}
		if n.Kind == yaml.AliasNode {
			if above[n.Alias] {
				l.fail(n, "", "", "the alias *%s stands within &%s, so that it has no end", n.Value, n.Value)
				return false
			}
			return visit(n.Alias)
		}
		above[n] = true
		defer delete(above, n)
		for _, c := range n.Content {
			if !visit(c) {
				return false
			}
		}
		return true
	}
	return visit(doc)
}
