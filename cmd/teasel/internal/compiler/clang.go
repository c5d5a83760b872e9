// Package compiler is the verbs that build programs to fuzz: cc, c++ and cargo.
package compiler

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/clang"
)

// compilerVerb is one of the verbs that take the place of a compiler.
type compilerVerb struct {
	name, language, file string
	variable             string // names another clang
	cxx                  bool
}

// The compilers that there are.
var (
	C   = compilerVerb{"cc", "C", "harness.c", "TEASEL_CC", false}
	CXX = compilerVerb{"c++", "C++", "harness.cc", "TEASEL_CXX", true}
)

// Invoked returns the arguments without our name. Under the name teasel-cc or teasel-c++, for example of a symbolic link, the verb is
// put before them: some builds take only the path of a compiler.
func Invoked(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	for _, v := range []compilerVerb{C, CXX} {
		if filepath.Base(args[0]) == "teasel-"+v.name {
			return append([]string{v.name}, args[1:]...)
		}
	}
	return args[1:]
}

// NewCommand returns the verb that takes the place of a compiler.
func NewCommand(v compilerVerb) *cobra.Command {
	cmd := &cobra.Command{
		Use:   v.name + " ARG...",
		Short: "Compile " + v.language + " for 'teasel native': clang with teasel's coverage and runtime",
		Long: fmt.Sprintf(`Stand in for the %[1]s compiler of a build, so that 'teasel native' can fuzz what it makes. All arguments but a lone --help are clang's, to
which coverage and, when a program is linked, a small runtime are added; -fsanitize=fuzzer means a harness with
LLVMFuzzerTestOneInput, as it does for libFuzzer. What was built runs as before when teasel does not run it.

A build that takes the path of a compiler and no arguments, as CMake does, wants a link named teasel-%[2]s:

  ln -s "$(command -v teasel)" /usr/local/bin/teasel-%[2]s

Environment: %[3]s names another clang; TEASEL_COVERAGE=1 adds source coverage for 'teasel cov'; TEASEL_NO_HOOKS=1 leaves out comparison hooks, for the faster of two
builds (see --operands of 'teasel native').`, v.language, v.name, v.variable),
		Example: fmt.Sprintf(`  teasel %[1]s -g -O1 -fsanitize=fuzzer,address %[2]s -o harness
  ./configure CC='teasel cc' CXX='teasel c++' --disable-shared && make
  cmake -DCMAKE_C_COMPILER=teasel-cc -DCMAKE_CXX_COMPILER=teasel-c++ ..`, v.name, v.file),
		DisableFlagParsing:    true,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsHelp(args) {
				return cmd.Help()
			}
			return v.compile(cmd, args)
		},
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Hidden = true // beside others it is clang's
	return cmd
}

// wantsHelp reports whether arguments ask for the help of a verb that hands all others on.
func wantsHelp(args []string) bool {
	return len(args) == 0 || len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// compiler returns the compiler with the settings of the environment.
func (v compilerVerb) compiler() clang.Compiler {
	on := func(variable string) bool {
		value := os.Getenv(variable)
		return value != "" && value != "0"
	}
	c := clang.Compiler{Clang: os.Getenv(v.variable), CXX: v.cxx, NoHooks: on("TEASEL_NO_HOOKS"), Source: on("TEASEL_COVERAGE")}
	if self, err := os.Executable(); err == nil {
		c.Teasel = self
	}
	return c
}

// compile replaces our process by the compiler, which thus gets our signals and has its own exit status.
func (v compilerVerb) compile(cmd *cobra.Command, args []string) error {
	command, err := v.compiler().Command(cmd.Context(), args)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || errors.Is(err, clang.ErrNotClang) {
		return exit.Usage("teasel needs clang, beside GCC if that is what the project uses; on Debian: apt-get install clang llvm libclang-rt-dev; "+
			v.variable+" names a clang that is elsewhere. What GCC has built runs too, without coverage: teasel native -- PROGRAM @@", "%w", err)
	}
	if err != nil {
		return exit.Failure(err)
	}
	if err := syscall.Exec(command[0], command, os.Environ()); err != nil {
		return exit.Failure(fmt.Errorf("running %s: %w", strings.Join(command[:1], " "), err))
	}
	return nil
}
