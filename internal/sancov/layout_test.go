package sancov

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// What both sides think of the memory's layout has to be the same.
func TestLayout(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to ask: ", err)
	}
	want := map[string]uintptr{
		"sizeof(struct hello)": unsafe.Sizeof(Hello{}), "sizeof(struct slot)": unsafe.Sizeof(Slot{}),
		"sizeof(struct operand)": unsafe.Sizeof(Operand{}), "sizeof(struct header)": unsafe.Sizeof(header{}),
		"offsetof(struct hello, pid)": unsafe.Offsetof(Hello{}.PID), "offsetof(struct hello, shape)": unsafe.Offsetof(Hello{}.Shape),
		"offsetof(struct slot, trace)": unsafe.Offsetof(Slot{}.Trace), "offsetof(struct slot, status)": unsafe.Offsetof(Slot{}.Status),
		"offsetof(struct operand, a)": unsafe.Offsetof(Operand{}.A), "offsetof(struct header, inputs)": unsafe.Offsetof(header{}.inputs),
		"offsetof(struct header, watching)": unsafe.Offsetof(header{}.watching), "offsetof(struct header, watched)": unsafe.Offsetof(header{}.watched), "TEASEL_SITES": siteCount, "sizeof(struct mutation)": unsafe.Sizeof(mutation{}), "offsetof(struct mutation, seed)": unsafe.Offsetof(mutation{}.seed), "offsetof(struct mutation, crosses)": unsafe.Offsetof(mutation{}.crosses), "COMMAND_MUTATE": commandMutate, "HELLO_CROSSER": Crosser, "offsetof(struct header, pid)": unsafe.Offsetof(header{}.pid),
		"offsetof(struct header, status)": unsafe.Offsetof(header{}.status), "offsetof(struct header, signal)": unsafe.Offsetof(header{}.signal),
		"offsetof(struct header, looking)": unsafe.Offsetof(header{}.looking), "offsetof(struct header, asked)": unsafe.Offsetof(header{}.asked), "offsetof(struct header, frames)": unsafe.Offsetof(header{}.frames), "TEASEL_VERSION": version, "TEASEL_LINE": line, "TEASEL_TEXTS": Texts,
		"TEASEL_FRAMES": maxFrames, "TEASEL_TEXT": maxText, "TEASEL_SAMPLES": maxSamples, "TEASEL_SAMPLE": uintptr(askSample), "TEASEL_LAST_SAMPLE": uintptr(lastSample), "TEASEL_OVER": sampleOver, "FD_COUNT": fdCount, "ASK_QUIET": AskQuiet, "COMMAND_RENEW": commandRenew,
		"STATUS_RENEWED": statusRenewed, "HELLO_UBSAN": UBSan, "HELLO_TSAN": TSan, "OPERAND_SWITCH": OperandSwitch,
	}
	var src strings.Builder
	src.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include \"layout.h\"\nint main(void) {\n")
	for expr := range want {
		fmt.Fprintf(&src, "printf(\"%s=%%lu\\n\", (unsigned long)(%s));\n", expr, expr)
	}
	src.WriteString("}\n")
	dir := t.TempDir()
	file, bin := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(file, []byte(src.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-Iruntime", file, "-o", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(out)) {
		expr, value, _ := strings.Cut(strings.TrimSpace(l), "=")
		if got := fmt.Sprint(want[expr]); got != value {
			t.Errorf("%s is %s in C and %s in Go", expr, value, got)
		}
		delete(want, expr)
	}
	if len(want) > 0 {
		t.Errorf("C has not said: %v", want)
	}
}
