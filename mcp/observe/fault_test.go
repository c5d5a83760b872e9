package observe

import (
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
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
		{mcptest.LoggedByNode + "/srv/b.js:4\n    throw new StockError();\n    ^\n\nStockError: none left\n    at take (/srv/b.js:4:5)\n    at main (/srv/a.js:1:2)\n\nNode.js v22.4.0\n",
			"StockError: none left", "take b.js:4:5", true},
		{"usage: a [-h]\na: error: unrecognized arguments: b\n", "", "", false},
		{"Traceback (most recent call last):\n", "", "", false},
		{"", "", "", false},
	} {
		f := LastWords([]byte(test.text))
		if f.Line != test.line || f.Line != "" && f.Place(nil) != test.place {
			t.Errorf("%q: line %q, place %q, expected %q, %q", test.text, f.Line, f.Place(nil), test.line, test.place)
		}
		if alive := FindFault([]byte(test.text)).Kind != FaultNone; alive != test.alive {
			t.Errorf("%q: a fault of one that lives: %v", test.text, alive)
		}
	}
}

func inGroup(exception string) string { return fmt.Sprintf(exceptionGroup, exception) }
