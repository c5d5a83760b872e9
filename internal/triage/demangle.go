package triage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// oldRust is a name of Rust's older mangling, which ends with a hash. LLVM may put something behind it.
var oldRust = regexp.MustCompile(`^_ZN(.+)17h[0-9a-f]{16}E(\.|$)`)

// demangled returns the name that people know a function of C++ or Rust by, without parameters and hashes; others stay.
func demangled(name string) string {
	if m := oldRust.FindStringSubmatchIndex(name); m != nil {
		name = "_ZN" + underscored(name[m[2]:m[3]]) + name[m[3]:]
	}
	return demangle.Filter(name, demangle.NoParams)
}

// underscored doubles the underscore with which a part of the path begins, as in 2__7__start: package demangle takes one
// away, which only Rust's newer mangling has there. Without it, "a::_::__start" becomes "a::::_start".
func underscored(path string) string {
	var b strings.Builder
	for path != "" {
		digits := len(path) - len(strings.TrimLeft(path, "0123456789"))
		n, err := strconv.Atoi(path[:digits])
		if err != nil || n > len(path)-digits {
			return b.String() + path // not ours to understand
		}
		part := path[digits : digits+n]
		if strings.HasPrefix(part, "_") {
			part = "_" + part
		}
		fmt.Fprintf(&b, "%d%s", len(part), part)
		path = path[digits+n:]
	}
	return b.String()
}
