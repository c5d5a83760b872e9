package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

// TestLongList: what a page of a list costs to judge grows with its length, not with the square of that. In the latter case
// this test would take an hour.
func TestLongList(t *testing.T) {
	var items strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&items, `,{"uri":"a://%d","name":"n"}`, i)
	}
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}}},"tools":[]}`)
	for _, f := range judgeText(t, session, `> {"jsonrpc":"2.0","id":1,"method":"resources/list"}`+"\n"+
		`< {"jsonrpc":"2.0","id":1,"result":{"resources":[`+items.String()[1:]+`]}}`+"\n") {
		t.Errorf("%s %s: %s", f.Rule, f.Subject, f.Message)
	}
}
