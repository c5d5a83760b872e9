package main

import (
	"fmt"
	"strings"
)

// The planted target: so many passages, each with a row of doors and a bug behind the last one.
const (
	passages = 8
	doors    = 4
)

// planted returns a harness. Each door is code of its own, and opens for a few values of one byte, which go through a table, so that what is
// compared says nothing of the input: it takes luck, and that is what several workers have more of. burn is how many rounds of work an input takes
// before, as parsers do.
func planted(burn int) string {
	var b strings.Builder
	b.WriteString("#include <stddef.h>\n#include <stdint.h>\n\nstatic uint8_t table[256];\nstatic volatile uint32_t sink;\n\n")
	for p := range passages {
		fmt.Fprintf(&b, "__attribute__((noinline)) static void bug%d(void) { *(volatile int *)%d = 0; }\n\n", p, p+1)
		fmt.Fprintf(&b, "__attribute__((noinline)) static void passage%d(const uint8_t *d) {\n", p)
		for d := range doors {
			fmt.Fprintf(&b, "\tif (table[d[%d]] >> 3 != %d) return;\n\tsink += %d;\n", d, (13*p+7*d+5)%32, 1000*p+d)
		}
		fmt.Fprintf(&b, "\tbug%d();\n}\n\n", p)
	}
	b.WriteString("int LLVMFuzzerInitialize(int *argc, char ***argv) {\n\tuint32_t x = 1;\n\tfor (int i = 0; i < 256; i++) table[i] = i;\n" +
		"\tfor (int i = 255; i > 0; i--) {\n\t\tx = x * 1664525 + 1013904223;\n\t\tint j = (x >> 8) % (i + 1);\n\t\tuint8_t t = table[i]; table[i] = table[j]; table[j] = t;\n\t}\n\treturn 0;\n}\n\n")
	fmt.Fprintf(&b, "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n\tuint32_t x = 0;\n\tfor (int i = 0; i < %d; i++) x = x * 31 + i, sink = x;\n\tif (size < %d) return 0;\n", burn, passages*doors)
	for p := range passages {
		fmt.Fprintf(&b, "\tpassage%d(data + %d);\n", p, p*doors)
	}
	b.WriteString("\treturn 0;\n}\n")
	return b.String()
}
