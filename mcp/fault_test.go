package mcp

import (
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel"
)

const exceptionGroup = `  + Exception Group Traceback (most recent call last):
  |   File "/srv/main.py", line 9, in <module>
  |     m.run()
  |   File "/usr/lib/python3.11/site-packages/mcp/server/stdio.py", line 85, in stdio_server
  |     async with anyio.create_task_group() as tg:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/usr/lib/python3.11/site-packages/anyio/_core/_tasks.py", line 327, in _run_coro
    |     retval = await self._coro
    |              ^^^^^^^^^^^^^^^^
    |   File "/srv/tools.py", line 71, in reader
    |     await stream.send(message)
    |   File "/usr/lib/python3.11/site-packages/anyio/streams/memory.py", line 287, in send
    |     raise BrokenResourceError from None
    | %s
    +------------------------------------
`

// What a process of Python's wrote last before it ended is why it did, however the trace is drawn and whatever the
// exception is called; of one that lives, it may be a log.
func TestLastWords(t *testing.T) {
	plain := "INFO: ready\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 3, in main\n    f()\n  File \"/srv/b.py\", line 4, in f\n"
	for _, test := range []struct {
		text, line, place string
		alive             bool // it is a fault of one that lives, too
	}{
		{plain + "shop.StockError: none left\n", "shop.StockError: none left", "f b.py:4", false},
		{plain + "KeyError: 'a'\n", "KeyError: 'a'", "f b.py:4", true},
		{inGroup("anyio.BrokenResourceError"), "anyio.BrokenResourceError", "reader tools.py:71", false},
		{inGroup("KeyError: 1"), "KeyError: 1", "reader tools.py:71", true},
		{plain + "AssertionError: odd\n", "AssertionError: odd", "f b.py:4", true},
		{"ready\nshop: /srv/stock.c:42: take: Assertion `n >= 0' failed.\n", "shop: /srv/stock.c:42: take: Assertion `n >= 0' failed.", "take stock.c:42", true},
		{loggedByNode + "/srv/b.js:4\n    throw new StockError();\n    ^\n\nStockError: none left\n    at take (/srv/b.js:4:5)\n    at main (/srv/a.js:1:2)\n\nNode.js v22.4.0\n",
			"StockError: none left", "take b.js:4:5", true},
		{"usage: a [-h]\na: error: unrecognized arguments: b\n", "", "", false},
		{"Traceback (most recent call last):\n", "", "", false},
		{"", "", "", false},
	} {
		f := lastWords([]byte(test.text))
		if f.line != test.line || f.line != "" && f.place(nil) != test.place {
			t.Errorf("%q: line %q, place %q, expected %q, %q", test.text, f.line, f.place(nil), test.line, test.place)
		}
		if alive := findFault([]byte(test.text)).kind != faultNone; alive != test.alive {
			t.Errorf("%q: a fault of one that lives: %v", test.text, alive)
		}
	}
}

const loggedByNode = "TypeError: handled\n    at log (/srv/log.js:1:2)\n    at main (/srv/a.js:3:4)\n"

// TestFaultOfTheScript: what a server has logged of earlier requests is not what it died of.
func TestFaultOfTheScript(t *testing.T) {
	const died = "Error: gone\n    at take (/srv/b.js:4:5)\n    at main (/srv/a.js:1:2)\n\nNode.js v22.4.0\n"
	for _, tt := range []struct{ during, all, rule, place string }{
		{died, loggedByNode + died, RuleCrash, "take b.js:4:5"},
		{died, "Traceback (most recent call last):\nMemoryError\n" + died, RuleCrash, "take b.js:4:5"},
		{"bye\n", loggedByNode + "bye\n", RuleCrash, ""},
		{"", died, RuleCrash, "take b.js:4:5"}, // several scripts were under way: nobody knows whose it is
	} {
		transcript := parseTranscript(t, deskSession(t), `> {"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n! exit 1\n")
		transcript.Stderr, transcript.End.Stderr = []byte(tt.during), []byte(tt.all)
		var found []teasel.Finding
		for _, d := range Detectors(DetectorConfig{}) {
			found = append(found, d.Detect(&teasel.Observation{Evidence: transcript})...)
		}
		if len(found) != 1 || found[0].Rule != tt.rule || found[0].Fault != tt.place {
			t.Errorf("%q at the end of %q: found %v, want %s at %q", tt.during, tt.all, found, tt.rule, tt.place)
		}
	}
}

func inGroup(exception string) string { return fmt.Sprintf(exceptionGroup, exception) }
