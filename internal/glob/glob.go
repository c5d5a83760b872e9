// Package glob makes patterns of package path/filepath from names that may contain anything.
package glob

import "strings"

// Escape returns the pattern that matches a name and no other.
func Escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
