package flags

import (
	"os"
	"regexp"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// Expand returns the value of a flag with those of the environment variables that it names as ${NAME}. What is secret is in the
// environment alone that way: a campaign's directory has the flag as it was written.
func Expand(flag, text string) (expanded string, err error) {
	expanded = variable.ReplaceAllStringFunc(text, func(v string) string {
		name := v[2 : len(v)-1]
		value := os.Getenv(name)
		if value == "" && err == nil { // as CI has a secret that there is not
			err = exit.Usage("for example: "+name+"=... teasel ...", "%s %q: the environment variable %s is not set, or empty", flag, text, name)
		}
		return value
	})
	return expanded, err
}
