package observe

import (
	"fmt"
	"strings"
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

func TestTopFrame(t *testing.T) {
	for _, test := range [][2]string{
		{"panic: x\n\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:1 +0x1\nmain.(*store).add(0x1)\n\t/srv/store.go:12 +0x1d\n", "main.(*store).add store.go:12"},
		{"panic: x\n\ngoroutine 1 [running]:\nruntime/debug.Stack()\n\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e\nmain.serve.func1()\n\t/srv/serve.go:9 +0x1d\n" +
			"panic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:1 +0x1\nruntime.goPanicIndex(0x7, 0x3)\n\t/usr/local/go/src/runtime/panic.go:2 +0x1\n" +
			"main.(*store).add(0x1)\n\t/srv/store.go:12 +0x1d\nmain.serve()\n\t/srv/serve.go:12 +0x1d\n", "main.(*store).add store.go:12"},
		{"Error: x\n    at Object.<anonymous> (node:internal/x:1:2)\n    at async Server.call (file:///srv/index.js:10:5)\n", "Server.call index.js:10:5"},
		{"Error: x\n    at /srv/index.js:10:5\n", "index.js:10:5"},
		{"Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in main\n  File \"/srv/b.py\", line 4, in handle\nKeyError: 1", "handle b.py:4"},
		{"Traceback (most recent call last):\n  File \"/srv/venv/bin/shop\", line 8, in <module>\n  File \"/srv/venv/lib/python3.11/site-packages/shop/wire.py\", line 29, in read\n" +
			"  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\njson.decoder.JSONDecodeError: x", "read wire.py:29"},
		{"Traceback (most recent call last):\n  File \"/srv/venv/lib/python3.11/site-packages/shop/tools.py\", line 3, in call\n" +
			"  File \"/srv/venv/lib/python3.11/site-packages/anyio/streams/memory.py\", line 287, in send\nKeyError: 1", "call tools.py:3"},
		{"thread 'main' panicked at src/main.rs:10:5:\nboom", "main.rs:10"},
		{"thread 'main' panicked at 'boom', src/lib.rs:10:5", "lib.rs:10"},
		{"java.lang.X\n\tat java.util.List.get(List.java:1)\n\tat com.example.A.b(A.java:12)\n", "com.example.A.b A.java:12"},
		{"==1==ERROR: AddressSanitizer: x\n    #0 0x55d0 in parse_line /srv/parse.c:33:7\n", "parse_line parse.c:33"},
		{"shop: /srv/stock.c:42: take: Assertion `n >= 0' failed.\n", "take stock.c:42"},
		{"Assertion failed: (n >= 0), function take, file stock.c, line 42.\n", "take stock.c:42"},
		{"no trace at all", ""},
	} {
		if got := TopFrame([]byte(test[0])); got != test[1] {
			t.Errorf("%q: got %q, want %q", test[0], got, test[1])
		}
	}
	old := "panic: first\n\ngoroutine 1 [running]:\nmain.a()\n\t/srv/a.go:1\n" + strings.Repeat("log\n", 100)
	if f := FindFault([]byte(old + "panic: second\n\ngoroutine 1 [running]:\nmain.b()\n\t/srv/b.go:1\n")); f.Place(nil) != "main.b b.go:1" {
		t.Errorf("the place is %q", f.Place(nil))
	}
}
