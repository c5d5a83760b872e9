package server

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

// TestUndiscovered: a server that refuses server/discover has the capabilities that its lists show, and answers what stands for a ping.
func TestUndiscovered(t *testing.T) {
	for bug, ping := range map[string]string{"none": "server/discover", "no-discover": "tools/list"} {
		c := &Command{Args: []string{mcptest.BuildServer(t, "asking"), "-stateless", "-bug", bug}, Stateless: true}
		visit, err := c.Visit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sess, s := visit.Session, visit.server
		if refused := bug == "no-discover"; sess.Undiscovered != refused || !sess.Has("tools") || sess.Has("prompts") || len(sess.Tools) == 0 {
			t.Errorf("%s: undiscovered %t, capabilities %v, %d tools", bug, sess.Undiscovered, sess.Capabilities, len(sess.Tools))
		}
		if s.pinged.Method != ping || sess.Ping != string(s.ping) {
			t.Errorf("%s: %s stands for a ping, want %s", bug, s.ping, ping)
		}
		answer, _, err := s.call(t.Context(), s.ping, DefaultTimeout)
		if err != nil || answer.Result == nil {
			t.Errorf("%s: a ping was answered with %v, %v", bug, answer.Error, err)
		}
		visit.Close()
	}
}
