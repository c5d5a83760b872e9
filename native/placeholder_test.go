package native_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestPlaced: what is around @@ in a path is kept.
func TestPlaced(t *testing.T) {
	for arg, want := range map[string]string{
		"@@":                           "/tmp/input",
		"@@.png":                       "/tmp/input.png",
		"@@.tar.gz":                    "/tmp/input.tar.gz",
		"dir/@@.conf":                  "/tmp/dir/input.conf",
		"./a/../b/@@":                  "/tmp/b/input",
		"../../@@.png":                 "/tmp/input.png",
		"/etc/x/@@.conf":               "/tmp/etc/x/input.conf",
		"img_@@.png":                   "/tmp/img_input.png",
		"--in=@@":                      "--in=/tmp/input",
		"--in=dir/@@.png":              "--in=/tmp/dir/input.png",
		"-i@@":                         "-i/tmp/input",
		"-Idir/@@.h":                   "-I/tmp/dir/input.h",
		"-file@@.png":                  "-file/tmp/input.png",
		"file:///@@":                   "file:///tmp/input",
		"@@:0":                         "/tmp/input:0",
		"a=@@,b=@@.x":                  "a=/tmp/input,b=/tmp/input.x",
		"cat @@ 'dir/@@.c' >/dev/null": "cat /tmp/input '/tmp/dir/input.c' >/dev/null",
		"none":                         "none",
	} {
		placed, names := native.Placed([]string{"@@", arg}, "/tmp/input")
		if placed[0] != "@@" || placed[1] != want || (len(names) > 0) != strings.Contains(arg, "@@") {
			t.Errorf("%s: %q and %q, want %q", arg, placed, names, want)
		}
	}
	if _, names := native.Placed([]string{"x", "@@.a", "@@.b", "--c=@@.a"}, "/tmp/input"); !slices.Equal(names, []string{"/tmp/input.a", "/tmp/input.b"}) {
		t.Errorf("several names: %q", names)
	}
}

// TestNamedFile: a program that insists on the name of its file, or on two names, reads the input there, however it is run.
func TestNamedFile(t *testing.T) {
	command := []string{"", "@@.png", "--in=conf.d/@@.conf"}
	runtime := slices.Clone(command)
	runtime[0] = build(t, source(t, "named.c"))
	plain := slices.Clone(command)
	plain[0] = plainBuild(t, "named.c")
	for name, command := range map[string][]string{"runtime": runtime, "black box": plain} {
		ex := start(t, native.Target{Command: command})
		for range 2 {
			if o := exec1(t, ex, teasel.Ask{}, "x"); o.Exit != teasel.ExitCrash {
				t.Errorf("%s: %v %s, want a crash", name, o.Exit, o.Detail)
			}
			if o := exec1(t, ex, teasel.Ask{}, "y"); o.Exit != teasel.ExitRejected {
				t.Errorf("%s: %v %s, want it rejected", name, o.Exit, o.Detail)
			}
		}
	}
}
