package netproto

import (
	"testing"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// What a server does only behind a login is found without a model: from dialogues of lines, and from seeds of one command each.
func TestBehindLogin(t *testing.T) {
	lines := func(text string) *dialogue.Dialogue { return dialogue.Lines([]byte(text)) }
	one := func(text string) *dialogue.Dialogue { return dialogue.Raw([]byte(text)) }
	for name, test := range map[string]struct {
		flags []string
		seeds []*dialogue.Dialogue
		found bool
	}{
		"reset":    {nil, []*dialogue.Dialogue{lines("USER bob\r\nPASS x\r\nSTAT\r\nQUIT\r\n"), lines("USER bob\r\nRSET\r\nQUIT\r\n")}, true},
		"commands": {[]string{"-DLIST"}, []*dialogue.Dialogue{one("USER bob\r\n"), one("PASS x\r\n"), one("LIST\r\n"), one("QUIT\r\n")}, true},
		"clean":    {[]string{"-DCLEAN"}, []*dialogue.Dialogue{lines("USER bob\r\nPASS x\r\nSTAT\r\nQUIT\r\n"), lines("USER bob\r\nRSET\r\nQUIT\r\n"), one("LIST\r\n")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := plantedSource(t, "login.c", "clang", test.flags...)
			c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}}, &dialogue.Mutator{Seeds: test.seeds})
			c.Seeds, c.Seed, c.Runs = test.seeds, 1, 1000
			if test.found {
				c.StopAfter = 1
			}
			s := run(t, c)
			if got := len(s.Findings) == 1 && s.Findings[0].Rule == judge.RuleCrash && s.Findings[0].Confirmed(); got != test.found || len(s.Findings) > 1 {
				t.Errorf("findings%s after %d executions, want one: %t", brief(s.Findings), s.Executions, test.found)
			}
		})
	}
}
