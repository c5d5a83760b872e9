package triage

import (
	"regexp"
	"strings"
)

// What UndefinedBehaviorSanitizer says of an access beyond an object, and of one to an object of another type or one that is gone.
var wrongAccess = regexp.MustCompile(`out of bounds|insufficient space for an object|does not point to an object|overflowed to 0x`)

// UndefinedAccess reports whether undefined behaviour with that message is a fault of memory. A misaligned pointer, which many
// processors do not mind, is one only if nothing can be read there; a null pointer is never more than a null pointer.
func UndefinedAccess(message, report string) bool {
	return wrongAccess.MatchString(message) ||
		strings.Contains(message, "misaligned address") && strings.Contains(report, "<memory cannot be printed>")
}
