package triage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// oldRust matches a name of Rust's older mangling, which ends with a hash and possibly a suffix of LLVM's.
var oldRust = regexp.MustCompile(`^_ZN(.+)17h[0-9a-f]{16}E(\.|$)`)

// partSuffix is what compilers append to the name of a function for a part or a copy of it that they have made.
var partSuffix = regexp.MustCompile(`(?:\.(?:cold|part|isra|constprop|lto_priv|llvm|localalias)(?:\.\d+)*)+$`)

// Demangled returns the source name of a function of C++ or Rust, without parameters and hashes. Other names are returned as
// they are.
func Demangled(name string) string {
	name = partSuffix.ReplaceAllString(name, "")
	if m := oldRust.FindStringSubmatchIndex(name); m != nil {
		name = "_ZN" + underscored(name[m[2]:m[3]]) + name[m[3]:]
	}
	return demangle.Filter(name, demangle.NoParams)
}

// underscored doubles the underscore at the beginning of a part of the path, as in 2__7__start: package demangle removes one
// underscore, which only Rust's newer mangling adds. Without that, "a::_::__start" would become "a::::_start".
func underscored(path string) string {
	var b strings.Builder
	for path != "" {
		digits := len(path) - len(strings.TrimLeft(path, "0123456789"))
		n, err := strconv.Atoi(path[:digits])
		if err != nil || n > len(path)-digits {
			return b.String() + path // not a mangled path
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
