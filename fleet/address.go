package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkAddress refuses what can be no address of a hub: nothing would ever answer there.
func checkAddress(list string) error {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil {
			return fmt.Errorf("address of the hub: %w", errors.Unwrap(err)) // without the text, which may have a password
		}
		port, portErr := strconv.ParseUint(cmp.Or(u.Port(), "4222"), 10, 16)
		if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" || portErr != nil || port == 0 {
			return fmt.Errorf("address of the hub %q: expected nats://HOST:PORT or tls://HOST:PORT", u.Redacted())
		}
	}
	return nil
}

// Redact returns the address of a hub, or several, without passwords and tokens.
func Redact(list string) string {
	parts := strings.Split(list, ",")
	for i, one := range parts {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.User == nil {
			continue
		}
		if _, both := u.User.Password(); !both { // a user alone is a token
			u.User = url.User("xxxxx")
		}
		parts[i] = u.Redacted()
	}
	return strings.Join(parts, ",")
}
