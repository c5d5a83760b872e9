package clang_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"

	"github.com/teaselfuzz/teasel/internal/clang"
)

// The command that compiles a file for fuzzing runs clang with additional flags.
func ExampleCompiler_Command() {
	clangPath, err := exec.LookPath("true") // in place of clang, which Command does not run here
	if err != nil {
		log.Fatal(err)
	}
	c := clang.Compiler{Clang: clangPath, Cache: os.TempDir()}
	command, err := c.Command(context.Background(), []string{"-c", "-O1", "parse.c"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(command[1:4], slices.Contains(command, "-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp"))
	// Output: [-c -O1 parse.c] true
}
