package libfuzzer

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// harnessFlags are the values of the flags that have an effect.
type harnessFlags struct {
	runs, maxTime, maxLen, seed, timeout, rss, allocation int
	jobs, workers, fork, reload                           int
	dict, prefix, exact, seedInputs                       string
	merge, minimize, cleanse, stats, missing, help, leaks int
	ignoreCrashes, ignoreTimeouts, ignoreOOMs             int
	crashStatus, timeoutStatus, interruptStatus, verbose  int

	inputs []string // the other arguments: files and directories
}

// harnessFlag is one of libFuzzer's flags.
type harnessFlag struct {
	name string
	into any // *int or *string
	help string
}

// newHarnessFlags returns libFuzzer's defaults.
func newHarnessFlags() *harnessFlags {
	return &harnessFlags{runs: -1, timeout: 1200, rss: 2048, leaks: 1, reload: 1, prefix: "./", verbose: 1, ignoreTimeouts: 1, ignoreOOMs: 1,
		crashStatus: 77, timeoutStatus: 70, interruptStatus: 72}
}

func (f *harnessFlags) table() []harnessFlag {
	return []harnessFlag{
		{"runs", &f.runs, "executions after which to end, the whole corpus at least; -1: no limit"},
		{"max_total_time", &f.maxTime, "seconds after which to end; 0: no limit"},
		{"max_len", &f.maxLen, "length of the longest input that is made; 0: 1 MiB"},
		{"seed", &f.seed, "of all randomness; 0: drawn"},
		{"timeout", &f.timeout, "seconds that a run may take"},
		{"malloc_limit_mb", &f.allocation, "size of one allocation that is reported as out of memory; 0: rss_limit_mb"},
		{"rss_limit_mb", &f.rss, "memory that a run may hold; 0: no limit"},
		{"detect_leaks", &f.leaks, "0: leave leaks alone"},
		{"dict", &f.dict, "file with tokens"},
		{"seed_inputs", &f.seedInputs, "files to begin with, with commas between them, or @FILE with such a list in it"},
		{"jobs", &f.jobs, "runs to make, each in a process that writes to fuzz-N.log"},
		{"workers", &f.workers, "jobs at a time; 0: half of the processors"},
		{"reload", &f.reload, "seconds after which inputs that others have put into the first directory are read; 0: never"},
		{"fork", &f.fork, "workers; goes on after timeouts and lack of memory"},
		{"ignore_crashes", &f.ignoreCrashes, "1: go on after a crash"},
		{"ignore_timeouts", &f.ignoreTimeouts, "0: with -fork, end after a timeout"},
		{"ignore_ooms", &f.ignoreOOMs, "0: with -fork, end after a lack of memory"},
		{"artifact_prefix", &f.prefix, "what stands before crash-..., timeout-... and oom-..."},
		{"exact_artifact_path", &f.exact, "the file for the input of a finding"},
		{"merge", &f.merge, "1: copy into the first directory what reaches something new of the others"},
		{"set_cover_merge", &f.merge, "the same"},
		{"minimize_crash", &f.minimize, "1: make the input of a crash smaller"},
		{"cleanse_crash", &f.cleanse, "1: replace the bytes of the input of a crash that do not matter"},
		{"print_final_stats", &f.stats, "1: print statistics at the end"},
		{"create_missing_dirs", &f.missing, "1: make directories that are not there"},
		{"error_exitcode", &f.crashStatus, "exit status of a crash"},
		{"timeout_exitcode", &f.timeoutStatus, "exit status of a timeout"},
		{"interrupt_exitcode", &f.interruptStatus, "exit status of an interrupt"},
		{"verbosity", &f.verbose, "0: no lines about what is new"},
		{"help", &f.help, "1: print this"},
	}
}

// ignoredFlags are flags of libFuzzer's that are accepted and have no effect.
const ignoredFlags = ` abort_on_timeout check_input_sha1 close_fd_mask cross_over cross_over_uniform_dist entropic
 entropic_feature_frequency_threshold entropic_number_of_rarest_features entropic_scale_per_exec_time experimental_len_control
 fork_corpus_groups handle_abrt handle_bus handle_fpe handle_ill handle_int handle_segv handle_term handle_usr1 handle_usr2
 handle_winexcept handle_xfsz keep_seed len_control lazy_counters mutate_depth prefer_small
 print_funcs purge_allocator_interval reduce_depth reduce_inputs
 report_slow_units shrink shuffle trace_malloc use_clang_coverage use_cmp use_counters use_extra_counters use_feature_frequency
 use_indir_calls use_memmem use_traces use_value_profile use_value_profile_mask `

// ignoredWithWarning are flags of libFuzzer's whose output is missing, which a warning says.
const ignoredWithWarning = " dump_coverage merge_control_file print_corpus_stats print_coverage print_full_coverage print_pcs "

// unsupported are flags of libFuzzer's that are an error: without their effect the run would do something else than what was asked for.
const unsupported = ` analyze_dict collect_data_flow data_flow_trace exit_on_item exit_on_src_pos focus_function
 minimize_crash_internal_step mutation_graph_file only_ascii stop_file `

// listed reports whether a list of flags contains a name.
func listed(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

// HasNoEffect reports whether a flag of libFuzzer's is accepted without an effect.
func HasNoEffect(name string) bool { return listed(ignoredFlags, name) }

// parseFlags reads arguments as libFuzzer does. It warns of unknown flags.
func parseFlags(args []string, w io.Writer) (*harnessFlags, error) {
	f := newHarnessFlags()
	for i, a := range args {
		name, value, ok := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-") || a == "-":
			f.inputs = append(f.inputs, a)
			continue
		case name == "ignore_remaining_args" && ok:
			return f, nil
		case a == "--help" || a == "-h":
			f.help = 1
			continue
		case strings.HasPrefix(name, "-"):
			fmt.Fprintf(w, "WARNING: did you mean '%s' (single dash)?\n", args[i][1:])
			continue
		}
		if err := f.set(name, value, ok, a, w); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// set sets the flag of an argument.
func (f *harnessFlags) set(name, value string, ok bool, arg string, w io.Writer) error {
	for _, x := range f.table() {
		if x.name != name || !ok {
			continue
		}
		switch into := x.into.(type) {
		case *int:
			n, err := strconv.Atoi(value)
			if err != nil {
				return &exit.Error{Status: statusError, Err: fmt.Errorf("%s: expected a number", arg), Hint: "-" + name + ": " + x.help}
			}
			*into = n
		case *string:
			*into = value
		}
		return nil
	}
	switch {
	case !ok || !listed(ignoredFlags+ignoredWithWarning+unsupported, name):
		fmt.Fprintf(w, "WARNING: unrecognized flag '%s'; use -help=1 to list all flags\n", arg)
	case value == "0" || value == "" || listed(ignoredFlags, name):
	case listed(ignoredWithWarning, name):
		fmt.Fprintf(w, "WARNING: -%s has no effect: a corpus's coverage is shown by teasel cov\n", name)
	default:
		return usageError("leave it out; -help=1 lists what is supported", "-%s is not supported", name)
	}
	return nil
}

func (f *harnessFlags) usage(w io.Writer, program string) {
	fmt.Fprintf(w, `Usage:

To run inputs:  %[1]s [-flag=value ...] FILE ...
To fuzz:        %[1]s [-flag=value ...] [DIR ...]     new inputs go into the first directory
To merge:       %[1]s -merge=1 DIR1 DIR2 ...

Flags, as libFuzzer has them (those of its others that do no harm are taken too):
`, program)
	for _, x := range f.table() {
		value := ""
		switch v := x.into.(type) {
		case *int:
			value = strconv.Itoa(*v)
		case *string:
			value = *v
		}
		fmt.Fprintf(w, "  %-22s %6s  %s\n", x.name, value, x.help)
	}
}
