// Package program is the verbs native and triage: it fuzzes a native program, runs the findings of one, and says which faults are behind
// a folder of crashing inputs.
package program

import (
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/native"
)

// options are the flags of teasel native. They are stored with the campaign.
type options struct {
	flags.Launch
	Operands    string        `json:"operands,omitempty"`
	MemoryLimit flags.Size    `json:"memory_limit,omitempty"`
	MallocLimit flags.Size    `json:"malloc_limit,omitempty"`
	Start       time.Duration `json:"start_timeout,omitempty"`
	Batch       int           `json:"batch,omitempty"`
	MaxLen      int           `json:"max_len,omitempty"`
	Exits       []int         `json:"crash_exit,omitempty"`
	Mode        string        `json:"mode,omitempty"`
	Tracer      string        `json:"tracer,omitempty"`
	Join        string        `json:"join,omitempty"`
	NoAffinity  bool          `json:"no_affinity,omitempty"`
}

// NewCommand returns the verb native.
func NewCommand() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "native [flags] -- PROGRAM [ARG... @@]",
		Short: "Fuzz a program in C or C++, or a libFuzzer harness",
		Long: `Fuzz a program that was built with 'teasel cc' or 'teasel c++': a harness with LLVMFuzzerTestOneInput, or a program that
reads standard input, or the file that stands for @@ among its arguments. What AFL++'s compilers have built is run as it is;
a program without any instrumentation is fuzzed blindly, by its exit status and what it writes.

What an input reaches in the program, and what the program compares it with, guides what is tried next. Each finding is
reproduced in a fresh process, made as small as it gets, and written down twice: as a file that 'teasel repro' takes, and
under crashes/ or hangs/ as the plain bytes that the program takes by itself.`,
		Example: `  teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness
  teasel native -- ./harness
  teasel native --corpus samples --dict xml.dict --duration 10m -- ./xmllint @@
  teasel native --dry-run -- ./harness
  teasel native --profile ci --format sarif -- ./harness > teasel.sarif`,
		RunE: campaign.RunE("native", o),
	}
	flags.AddLaunch(cmd, &o.Launch, "program", "this one")
	f := cmd.Flags()
	addJoin(f, &o.Join)
	addRun(f, o)
	f.StringVar(&o.Operands, "operands", "", "second build of the program, with comparison hooks, for a first one that was built with TEASEL_NO_HOOKS=1")
	f.IntVar(&o.Batch, "batch", 0, "inputs that go to the program at a time at most; 0: 256 of a harness, 64 of others")
	f.IntVar(&o.MaxLen, "max-len", 0, "length of the longest input, in bytes; 0: 1 MiB")
	return cmd
}

// addRun adds the flags that say how the program is run.
func addRun(f *pflag.FlagSet, o *options) {
	f.Var(&o.MemoryLimit, "memory-limit", "memory that one run may hold; 0: 2GiB")
	f.Var(&o.MallocLimit, "malloc-limit", "size of one allocation that is reported as out of memory, under a sanitizer; 0: --memory-limit")
	f.DurationVar(&o.Start, "start-timeout", 0, "how long the program may take to get ready for its first input; 0: 30s")
	f.IntSliceVar(&o.Exits, "crash-exit", nil, "exit status that counts as a crash; may be given several times")
	f.Var(flags.Choice(&o.Mode, []string{native.ModeRuntime, native.ModeAFL, native.ModeBlackBox}), "mode", "how the program is run (default: as it was built)")
	f.StringVar(&o.Tracer, "tracer", "", "program, and its arguments, that runs the program and has AFL's fork server in it, such as afl-qemu-trace")
	f.BoolVar(&o.NoAffinity, "no-affinity", false, "do not bind each worker's processes to a processor core of its own")
}

// Prepare implements [campaign.Verb].
func (o *options) Prepare(set func(flag string) bool, stderr io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	o.SetDefaults(set, "native")
	if o.Join != "" {
		out, err := joinDir(o.Join)
		if err != nil {
			return err
		}
		o.Out = out
	}
	return applyOSSFuzzFiles(o, set, stderr)
}

// check refuses values that make no sense, before anything is started.
func (o *options) check() error {
	if len(o.Command) == 0 {
		return exit.Usage("for example: teasel native -- ./harness\nhint: to build one: teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness", "no program to fuzz: its command goes behind --")
	}
	for _, n := range o.Exits {
		if n < 1 || n > 255 {
			return exit.Usage("", "--crash-exit %d: expected 1 to 255", n)
		}
	}
	return nil
}
