package flags

import (
	"strings"
	"testing"
)

// A password of the hub comes from the environment, and the flag stays as it was written.
func TestHubPassword(t *testing.T) {
	t.Setenv("TEASEL_TEST_PASSWORD", "secret")
	h := Hub{URL: "nats://joe:${TEASEL_TEST_PASSWORD}@127.0.0.1:4222"}
	c, err := h.Config("campaign", "machine")
	if err != nil || c.URL != "nats://joe:secret@127.0.0.1:4222" || strings.Contains(h.URL, "secret") {
		t.Errorf("%q of %q: %v", c.URL, h.URL, err)
	}
	h.URL = "nats://joe:${TEASEL_TEST_NOT_SET}@127.0.0.1:4222"
	if _, err := h.Config("campaign", "machine"); err == nil || !strings.Contains(err.Error(), "the environment variable TEASEL_TEST_NOT_SET is not set") {
		t.Errorf("%q: %v", h.URL, err)
	}
}
