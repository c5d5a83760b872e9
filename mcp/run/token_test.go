package run

import (
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// What one script has begun and does not wait for may go on telling its progress while another script has the same token.
func TestTakenToken(t *testing.T) {
	program := mcptest.BuildServer(t, plantedtest.Planted)
	report := func(token string) script.Script {
		return lineScript(fmt.Sprintf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"run_report",`+
			`"arguments":{"steps":10,"delay_ms":50},"_meta":{"progressToken":%q}}}`, token))
	}
	for _, tt := range []struct {
		bugs, before, after string
		want                int
	}{
		{"none", "same", "same", 0},
		{"none", "one", "other", 0},
		{"progress-after-reply", "one", "other", 1},
	} {
		t.Run(tt.bugs+" "+tt.before+" "+tt.after, func(t *testing.T) {
			e := open(t, planted(program, tt.bugs))
			if o := executeBatch(t, e, report(tt.before)); o[0].Evidence != nil {
				t.Fatal("the first was waited for")
			}
			_, obs := execute(t, e, report(tt.after))
			if found := told(&obs, judge.RuleProgress); len(found) != tt.want {
				t.Errorf("found %+v, want %d of %s", found, tt.want, judge.RuleProgress)
			}
		})
	}
	e := open(t, planted(program, "none"))
	for range 3 { // what has been answered is no longer in use
		if tr, _ := execute(t, e, report("mine")); tr.Sent[0].Taken || tr.Sent[0].Answer < 0 {
			t.Fatalf("the token counts as taken, or there is no answer: %+v", tr.Sent[0])
		}
	}
}
