package triage

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestLastCrash reads what runtimes write: the language, the fault, the line that says so, and the frame that is to blame.
func TestLastCrash(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/crashes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range archive.Files {
		texts[f.Name] = string(f.Data)
	}
	for _, tt := range []struct {
		name     string
		language Language
		fault    Fault
		blame    string
		line     string
		alive    bool // it is a crash of a program that goes on, too
	}{
		{"asan", C, HeapOverflow, "parse_line parse.c:33", "==7==ERROR: AddressSanitizer: heap-buffer-overflow", true},
		{"bsd-assertion", C, Assertion, "take stock.c:42", "Assertion failed: (n >= 0), function take, file stock.c, line 42.", true},
		{"c++-uncaught", C, Abort, "", "terminate called after throwing an instance of 'std::runtime_error'", true},
		{"dotnet-assertion", DotNet, Assertion, "Shop.Store.Take Store.cs:12", "Process terminated. Assertion failed.", true},
		{"dotnet-inner", DotNet, Exception, "Shop.Store.Take Store.cs:12", "Unhandled exception. System.InvalidOperationException: outer", true},
		{"dotnet-recursion", DotNet, Recursion, "Shop.Store.Depth", "Stack overflow.", true},
		{"dotnet-uncaught", DotNet, Exception, "Shop.Store.Take Store.cs:12", "Unhandled exception. System.NullReferenceException: Object reference", true},
		{"glibc-assertion", C, Assertion, "take stock.c:42", "shop: /srv/stock.c:42: take: Assertion `n >= 0' failed.", true},
		{"go-deadlock", Go, Deadlock, "main.main g.go:11", "fatal error: all goroutines are asleep - deadlock!", true},
		{"go-panic", Go, Panic, "main.(*store).add g.go:4", "panic: assignment to entry in nil map", true},
		{"go-recovered", Go, Panic, "main.(*store).add g.go:4", "2026/01/01 10:00:00 recovered panic: assignment to entry in nil map", true},
		{"go-recursion", Go, Recursion, "main.rec g.go:5", "fatal error: stack overflow", true},
		{"go-repanicked", Go, Panic, "main.(*store).add g.go:4", "panic: runtime error: invalid memory address", true},
		{"go-sdk", Go, Panic, "example.com/shop.(*store).Take store.go:12", "panic: none left", true},
		{"java-assertion", Java, Assertion, "A.main A.java:11", "Exception in thread \"main\" java.lang.AssertionError: too few", true},
		{"java-cause", Java, Exception, "A$Store.get A.java:4", "Exception in thread \"main\" java.lang.RuntimeException: outer", true},
		{"java-fatal", Java, InvalidAccess, "shop_take libshop.so", "# A fatal error has been detected by the Java Runtime Environment:", true},
		{"java-memory", Java, OutOfMemory, "A.main A.java:10", "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space", true},
		{"java-null", Java, Exception, "A.main A.java:8", "Exception in thread \"main\" java.lang.NullPointerException: Cannot invoke", true},
		{"java-recursion", Java, Recursion, "A.depth A.java:3", "Exception in thread \"main\" java.lang.StackOverflowError", true},
		{"java-thread", Java, Exception, "A.lambda$main$0 A.java:9", "Exception in thread \"worker 1\" java.lang.IllegalStateException: in thread", true},
		{"java-uncaught", Java, Exception, "A$Store.get A.java:4", "Exception in thread \"main\" java.lang.IndexOutOfBoundsException: Index 5", true},
		{"log", "", "", "", "", false},
		{"node-abort", JavaScript, Abort, "a.js:3:414", "----- JavaScript stack trace -----", true},
		{"node-cause", JavaScript, Exception, "inner a.js:1:33", "Error: outer", true},
		{"node-code", "", "", "", "", false},
		{"node-dependency", JavaScript, Exception, "take shop.js:71:9", "[2026-01-01T10:00:00Z] error: TypeError: Cannot read properties of null", true},
		{"node-event", JavaScript, Exception, "Object.<anonymous> a.js:3:486", "Error: bad", true},
		{"node-handled", "", "", "", "", false},
		{"node-memory", JavaScript, OutOfMemory, "", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", true},
		{"node-package", JavaScript, Exception, "take index.js:9:15", "Error: gone", true},
		{"node-range", JavaScript, Exception, "Object.<anonymous> a.js:3:537", "RangeError [ERR_OUT_OF_RANGE]: The value of \"size\" is out of range.", true},
		{"node-recursion", JavaScript, Recursion, "f a.js:3:190", "RangeError: Maximum call stack size exceeded", true},
		{"node-rejected", JavaScript, Exception, "Object.<anonymous> a.js:3:39", "Error: none left", true},
		{"node-rejected-text", JavaScript, Exception, "", "UnhandledPromiseRejection: This error originated", true},
		{"node-thrown-number", JavaScript, Exception, "a.js:3", "5", true},
		{"node-uncaught", JavaScript, Exception, "inner a.js:1:33", "TypeError: Cannot read properties of undefined (reading 'bar')", true},
		{"php-uncaught", PHP, Exception, "shop.php:12", "PHP Fatal error:  Uncaught TypeError: take()", true},
		{"python-ass", Python, Assertion, "<module> b.py:30", "AssertionError: odd", true},
		{"python-fatal", Python, Abort, "<module> b.py:29", "Fatal Python error: test_fatal_error: boom", true},
		{"python-grp", Python, Exception, "g b.py:4", "KeyError: 'x'", true},
		{"python-key", Python, Exception, "g b.py:4", "KeyError: 'x'", true},
		{"python-mem", Python, OutOfMemory, "<module> b.py:8", "MemoryError", true},
		{"python-package", Python, Exception, "read wire.py:29", "json.decoder.JSONDecodeError: Expecting value", false},
		{"python-rec", Python, Recursion, "f b.py:3", "RecursionError: maximum recursion depth exceeded", true},
		{"python-seg", Python, InvalidAccess, "<module> b.py:11", "Fatal Python error: Segmentation fault", true},
		{"python-task", Python, Exception, "g b.py:4", "KeyError: 'x'", true},
		{"python-thr", Python, Exception, "g b.py:4", "KeyError: 'x'", true},
		{"ruby-uncaught", Ruby, Exception, "take shop.rb:3", "/srv/shop.rb:3:in `take': none left (StockError)", true},
		{"rust-assertion", Rust, Assertion, "main.rs:2:132", "thread 'main' (", true},
		{"rust-index", Rust, Panic, "main.rs:1:65", "thread 'main' (", true},
		{"rust-package", Rust, Panic, "shop::take shop.rs:12:9", "thread 'tokio-runtime-worker' panicked at", true},
		{"rust-plain", Rust, Panic, "main.rs:2:199", "thread 'main' (", true},
	} {
		text, ok := texts[tt.name]
		if !ok {
			t.Errorf("%s: no such text", tt.name)
			continue
		}
		delete(texts, tt.name)
		for _, before := range []string{"", "INFO: ready\n", texts["node-handled"]} { // what came before is not why it ended
			c, found := LastCrash([]byte(before+text), true)
			if blame := blamed(&c); found != (tt.fault != "") || c.Language != tt.language || c.Fault != tt.fault || blame != tt.blame || !strings.HasPrefix(c.Line, tt.line) {
				t.Errorf("%s below %.10q: %v, %s %s in %q by %q, want %s %s in %q by %q", tt.name, before, found, c.Language, c.Fault, blame, c.Line, tt.language, tt.fault, tt.blame, tt.line)
			}
		}
		if _, found := LastCrash([]byte(text), false); found != tt.alive {
			t.Errorf("%s: of a program that goes on: %v", tt.name, found)
		}
	}
	for name := range texts {
		t.Errorf("%s is not in the table", name)
	}
}

func blamed(c *Crash) string {
	if f := c.Blame(); f != nil {
		return f.Short()
	}
	return ""
}

// TestWorstCrash: of several crashes, the worst counts and then the last; what was only logged does not hide what was not caught.
func TestWorstCrash(t *testing.T) {
	const (
		logged = "TypeError: handled\n    at log (/srv/log.js:1:2)\n    at main (/srv/a.js:3:4)\n"
		died   = "Error: gone\n    at take (/srv/b.js:4:5)\n    at main (/srv/a.js:1:2)\n\nNode.js v22.4.0\n"
		python = "Traceback (most recent call last):\n  File \"/srv/b.py\", line 4, in f\nshop.StockError: none left\n"
		index  = "Traceback (most recent call last):\n  File \"/srv/c.py\", line 5, in g\nIndexError: list index out of range\n"
		first  = "panic: first\n\ngoroutine 1 [running]:\nmain.a()\n\t/srv/a.go:1\n"
		second = "panic: second\n\ngoroutine 1 [running]:\nmain.b()\n\t/srv/b.go:1\n"
	)
	for _, tt := range []struct {
		text, blame string
		ended       bool
		logged      bool
	}{
		{logged + died, "take b.js:4:5", false, false},
		{died + logged, "take b.js:4:5", false, false},
		{logged, "log log.js:1:2", false, true},
		{index + python, "f b.py:4", true, false},
		{index + python, "g c.py:5", false, true},
		{first + strings.Repeat("log\n", 100) + second, "main.b b.go:1", false, false},
		{"==7==ERROR: AddressSanitizer: SEGV on unknown address\n    #0 0x55d0 in parse /srv/parse.c:33:7\n" + died, "parse parse.c:33", false, false},
	} {
		c, found := LastCrash([]byte(tt.text), tt.ended)
		if blame := blamed(&c); !found || blame != tt.blame || c.Logged() != tt.logged {
			t.Errorf("%q: %v in %q, logged %v; want %q, %v", tt.text, found, blame, c.Logged(), tt.blame, tt.logged)
		}
	}
}

// TestTrace: a stack trace in a text of any kind is recognised; a line that looks like a frame by chance is none.
func TestTrace(t *testing.T) {
	for _, tt := range []struct{ text, blame string }{
		{"failed: goroutine 1 [running]:\nmain.(*store).add(0x1)\n\t/srv/store.go:12 +0x1d\n", "main.(*store).add store.go:12"},
		{"Error: x\n    at Object.<anonymous> (node:internal/x:1:2)\n    at async Server.call (file:///srv/index.js:10:5)\n", "Server.call index.js:10:5"},
		{"Error: x\n    at /srv/index.js:10:5\n", ""},
		{"Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in main\n  File \"/srv/b.py\", line 4, in handle\nKeyError: 1", "handle b.py:4"},
		{"Traceback (most recent call last):\n  File \"/srv/venv/lib/python3.11/site-packages/shop/tools.py\", line 3, in call\n" +
			"  File \"/srv/venv/lib/python3.11/site-packages/anyio/streams/memory.py\", line 287, in send\nKeyError: 1", "call tools.py:3"},
		{"thread 'main' panicked at 'boom', src/lib.rs:10:5", "lib.rs:10:5"},
		{"java.lang.X\n\tat java.base/java.util.List.get(List.java:1)\n\tat com.example.A.b(A.java:12)\n", "com.example.A.b A.java:12"},
		{"   at Shop.Store.Take(String name)\n   at Shop.Api.Call(String name)\n", "Shop.Store.Take"},
		{"   at noon(today)\n   at home(later)\n", ""},
		{"#0 /srv/server.php(40): take()\n#1 /srv/main.php(2): main()\n", "take server.php:40"},
		{"meet me\n at the station (platform 3)\n at ten", ""},
		{"no trace at all", ""},
	} {
		c, found := Trace(tt.text)
		if blame := blamed(&c); blame != tt.blame || found != (tt.blame != "") {
			t.Errorf("%q: %v, %q, want %q", tt.text, found, blame, tt.blame)
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	text := strings.Repeat("The file was read at noon by the panel, at /srv/data, at once. ", 16)
	b.ReportAllocs()
	for b.Loop() {
		Trace(text)
	}
}

func BenchmarkLastCrash(b *testing.B) {
	text := []byte(strings.Repeat("2026-01-01T10:00:00Z info: tools/call echo took 3 ms, error budget 12\n", 50))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		LastCrash(text, false)
	}
}
