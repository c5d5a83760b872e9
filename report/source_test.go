package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// SARIF points at the innermost call that is in the repository, whatever the language of the stack.
func TestSourceLine(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"src/parse.c", "server.js", "server.py", "node_modules/sdk/index.js"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, detail, file string
		line               int
	}{
		{"sanitizer", "#0 0x55 in memcpy /build/llvm/asan.cpp:22:5\n#1 0x56 in parse " + root + "/src/parse.c:12:3\n#2 0x57 in main " + root + "/src/parse.c:40:1\n", "src/parse.c", 12},
		{"relative", "parse src/parse.c:7", "src/parse.c", 7},
		{"Node.js", "TypeError: x\n    at call (" + root + "/node_modules/sdk/index.js:3:1)\n    at divide (file://" + root + "/server.js:9:11)\n    at run (" + root + "/server.js:5:2)\n", "server.js", 9},
		{"Python", "Traceback (most recent call last):\n  File \"" + root + "/server.py\", line 30, in main\n  File \"" + root + "/server.py\", line 4, in divide\n  File \"/usr/lib/python3/json.py\", line 9, in loads\n", "server.py", 4},
		{"elsewhere", "#0 0x55 in parse /usr/src/parse.c:12:3\n", "findings/", 1},
		{"a time", "it took 12:30 on server.js", "findings/", 1},
	} {
		f := teasel.Finding{Rule: "native/crash", Subject: "parse", Detail: test.detail}
		want := test.file
		if want == "findings/" {
			want = filepath.ToSlash(filepath.Join("out", "findings", f.ID()+".json"))
		}
		r := &Run{Root: root, Dir: filepath.Join(root, "out")}
		if file, line := r.location(&f); file != want || line != test.line {
			t.Errorf("%s: %s:%d, want %s:%d", test.name, file, line, want, test.line)
		}
	}
}
