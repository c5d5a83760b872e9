package conn

import "net/http"

// Unauthorized reports whether an HTTP status says that a request lacks the credentials it needs.
func Unauthorized(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// Declined reports whether an HTTP status refuses a request for who asks, or for how often: a server may do so and work.
func Declined(status int) bool {
	return Unauthorized(status) || status == http.StatusTooManyRequests
}
