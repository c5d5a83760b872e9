package triage

import (
	"regexp"
	"strings"
)

// wrongAccess matches the messages of UndefinedBehaviorSanitizer about an access beyond an object, or to an object of another type or
// one that no longer exists.
var wrongAccess = regexp.MustCompile(`out of bounds|insufficient space for an object|does not point to an object|overflowed to 0x`)

// UndefinedAccess reports whether undefined behaviour with that message is an invalid memory access. A misaligned pointer, which
// many processors support, counts only if no memory is readable there; a null pointer does not count.
func UndefinedAccess(message, report string) bool {
	return wrongAccess.MatchString(message) ||
		strings.Contains(message, "misaligned address") && strings.Contains(report, "<memory cannot be printed>")
}
