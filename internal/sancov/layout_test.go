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

// TestLayout compares the layouts in C and in Go.
func TestLayout(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skipped: there is no C compiler: ", err)
	}
	want := map[string]uintptr{
		"sizeof(struct hello)": unsafe.Sizeof(Hello{}), "offsetof(struct hello, pid)": unsafe.Offsetof(Hello{}.PID), "offsetof(struct hello, shape)": unsafe.Offsetof(Hello{}.Shape),
		"sizeof(struct control)": unsafe.Sizeof(control{}), "offsetof(struct control, inputs)": unsafe.Offsetof(control{}.inputs), "offsetof(struct control, outputs)": unsafe.Offsetof(control{}.outputs),
		"offsetof(struct control, results_size)": unsafe.Offsetof(control{}.resultsSize), "offsetof(struct control, max_len)": unsafe.Offsetof(control{}.maxLen),
		"offsetof(struct control, from)": unsafe.Offsetof(control{}.from), "offsetof(struct control, watching)": unsafe.Offsetof(control{}.watch),
		"offsetof(struct control, round)": unsafe.Offsetof(control{}.round), "offsetof(struct control, asked)": unsafe.Offsetof(control{}.asked),
		"sizeof(struct results)": unsafe.Sizeof(results{}), "offsetof(struct results, pid)": unsafe.Offsetof(results{}.pid), "offsetof(struct results, samples)": unsafe.Offsetof(results{}.samples),
		"offsetof(struct results, signal)": unsafe.Offsetof(results{}.signal), "offsetof(struct results, frames)": unsafe.Offsetof(results{}.frames),
		"sizeof(struct slot)": unsafe.Sizeof(slot{}), "offsetof(struct slot, ask)": unsafe.Offsetof(slot{}.ask),
		"sizeof(struct outcome)": unsafe.Sizeof(Outcome{}), "offsetof(struct outcome, trace)": unsafe.Offsetof(Outcome{}.Trace), "offsetof(struct outcome, length)": unsafe.Offsetof(Outcome{}.length),
		"sizeof(struct mutation)": unsafe.Sizeof(mutation{}), "offsetof(struct mutation, output)": unsafe.Offsetof(mutation{}.output), "offsetof(struct mutation, cross_over)": unsafe.Offsetof(mutation{}.crossOver),
		"sizeof(struct segment)": unsafe.Sizeof(segmentHead{}), "offsetof(struct segment, used)": unsafe.Offsetof(segmentHead{}.used), "offsetof(struct segment, modules)": unsafe.Offsetof(segmentHead{}.modules),
		"sizeof(struct module)": unsafe.Sizeof(module{}), "TEASEL_PAGE": pageSize, "TEASEL_MODULES": maxModules, "SEGMENT_RECORDING": segmentRecording, "SEGMENT_SITES": segmentSites,
		"SEGMENT_CONTROL": segmentControl, "SEGMENT_RESULTS": segmentResults, "SEGMENT_OPERANDS": segmentOperands, "SEGMENT_COUNTERS": segmentCounters,
		"SEGMENT_OPERAND_COUNT":  segmentRecords,
		"sizeof(struct operand)": unsafe.Sizeof(Operand{}), "offsetof(struct operand, a)": unsafe.Offsetof(Operand{}.A),
		"sizeof(struct command)": unsafe.Sizeof(command{}), "sizeof(struct answer)": unsafe.Sizeof(answer{}), "offsetof(struct answer, round)": unsafe.Offsetof(answer{}.round),
		"TEASEL_SITES": siteCount, "TEASEL_VERSION": version, "TEASEL_LINE": line, "TEASEL_TEXTS": Texts, "TEASEL_FRAMES": maxFrames, "TEASEL_TEXT": maxTextLength,
		"TEASEL_SAMPLES": maxSamples, "TEASEL_SAMPLE": askSample, "TEASEL_LAST_SAMPLE": lastSample, "TEASEL_RUN_OVER": sampleOver, "FD_COUNT": fdCount,
		"ASK_QUIET": AskQuiet, "ASK_STACKS": AskStacks, "ASK_NO_LEAKS": AskNoLeaks, "COMMAND_RENEW": commandRenew, "COMMAND_MUTATE": commandMutate, "STATUS_RENEWED": statusRenewed,
		"HELLO_UBSAN": UBSan, "HELLO_TSAN": TSan, "HELLO_LOOPS": Loops, "HELLO_MEMORY": InMemory, "HELLO_CROSSOVER": CrossOver, "OPERAND_SWITCH": OperandSwitch,
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
		t.Errorf("missing in the output of the C program: %v", want)
	}
}
