package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestSlowestHoldsNobodyUp: over HTTP others are sent while one call of a batch has no answer, although all of them began together.
func TestSlowestHoldsNobodyUp(t *testing.T) {
	const others = 128 // more than are in flight at a time
	var came atomic.Int32
	enough := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		json.NewDecoder(r.Body).Decode(&m)
		result := `{}`
		switch {
		case m.Method == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`
		case strings.Contains(string(m.Params), "slow"):
			<-enough
		case m.Method == "tools/call" && came.Add(1) == others:
			close(enough)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer web.Close()
	e := open(t, &Target{Command: server.Command{URL: web.URL, Timeout: time.Minute}})
	ins := []script.Script{lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"slow","arguments":{}}}`)}
	for i := range others {
		ins = append(ins, lineScript(fmt.Sprintf(echoLine, `"@id"`, i)))
	}
	for i, obs := range executeBatch(t, e, ins...) {
		if tr, ok := obs.Evidence.(*script.Transcript); !ok || obs.Exit != teasel.ExitOK || tr.Sent[0].Answer < 0 {
			t.Errorf("script %d ended as %v and was not answered in its batch", i, obs.Exit)
		}
	}
}
