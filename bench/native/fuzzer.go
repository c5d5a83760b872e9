package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fuzzer is a contestant: how it is started, and where it says what it did.
type fuzzer struct {
	name     string
	compiler string
	second   string // another build that it takes as well
	env      []string
	// command fuzzes program and leaves its corpus under out.
	command func(j job) []string
	corpus  string // below out
	// executions reads how many inputs it ran.
	executions func(j job) (uint64, error)
	stop       stopper // ends it before its time, when its processor time is used up
}

func (f fuzzer) title() string { return f.name }

// limits are the same for all fuzzers that run; 0 leaves each its own.
type limits struct {
	length  int           // of an input, in bytes
	timeout time.Duration // of an execution, in whole seconds
}

// job is one run of a fuzzer.
type job struct {
	program, second string
	seeds, out      string
	log             string // file of what it printed
	time            time.Duration
	limits          limits
	seed            uint64
	workers         int
	self            string // this program
}

func (j job) seconds() string { return strconv.Itoa(int(j.time.Seconds())) }

var aflEnv = []string{"AFL_NO_UI=1", "AFL_SKIP_CPUFREQ=1", "AFL_NO_AFFINITY=1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1", "AFL_NO_WARN_INSTABILITY=1"}

var contestants = []fuzzer{
	{name: "teasel", compiler: "teasel", command: ours, corpus: "corpus", executions: ourExecutions, stop: signalled(syscall.SIGINT)},
	{name: "afl", compiler: "afl", env: aflEnv, command: afl, corpus: "default/queue", executions: aflExecutions, stop: signalled(syscall.SIGINT)},
	{name: "afl-cmplog", compiler: "afl", second: "cmplog", env: aflEnv, command: afl, corpus: "default/queue", executions: aflExecutions, stop: signalled(syscall.SIGINT)},
	{name: "libfuzzer", compiler: "libfuzzer", command: libfuzzer(""), corpus: "corpus", executions: libfuzzerExecutions, stop: signalled(syscall.SIGUSR1)},
	{name: "libfuzzer-vp", compiler: "libfuzzer", command: libfuzzer("-use_value_profile=1"), corpus: "corpus", executions: libfuzzerExecutions, stop: signalled(syscall.SIGUSR1)},
	{name: "libfuzzer-fork", compiler: "libfuzzer", command: libfuzzer("-fork=1"), corpus: "corpus", executions: forkExecutions, stop: stopFork},
	{name: "libafl", compiler: "libafl", command: libafl, corpus: "corpus", executions: libfuzzerExecutions, stop: signalled(syscall.SIGUSR1)},
}

func afl(j job) []string {
	args := []string{"afl-fuzz", "-i", j.seeds, "-o", j.out, "-V", j.seconds(), "-s", strconv.FormatUint(j.seed, 10), "-m", "none",
		"-t", strconv.FormatInt(cmp.Or(j.limits.timeout, time.Second).Milliseconds(), 10)}
	if j.limits.length > 0 {
		args = append(args, "-G", strconv.Itoa(j.limits.length))
	}
	if j.second != "" {
		args = append(args, "-c", j.second)
	}
	return append(args, "--", j.program)
}

func aflExecutions(j job) (uint64, error) {
	return number(filepath.Join(j.out, "default", "fuzzer_stats"), "execs_done")
}

func libfuzzer(flag string) func(j job) []string {
	return func(j job) []string {
		args := []string{j.program, "-max_total_time=" + j.seconds(), "-seed=" + strconv.FormatUint(j.seed, 10), "-print_final_stats=1",
			"-timeout=" + strconv.Itoa(int(cmp.Or(j.limits.timeout, 25*time.Second).Seconds())), "-max_len=" + strconv.Itoa(j.limits.length),
			"-artifact_prefix=" + j.out + "/", "-rss_limit_mb=2048"}
		if flag != "" {
			args = append(args, flag)
		}
		return append(args, filepath.Join(j.out, "corpus"), j.seeds)
	}
}

func libfuzzerExecutions(j job) (uint64, error) {
	return number(j.log, "stat::number_of_executed_units")
}

// forkExecutions reads the last of the lines that fork mode prints, "#1234: cov: ...": it counts inputs over all its jobs.
func forkExecutions(j job) (n uint64, err error) {
	text, err := os.ReadFile(j.log)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "#")
		count, after, found := strings.Cut(rest, ":")
		if ok && found && strings.HasPrefix(after, " cov:") {
			if n, err = strconv.ParseUint(count, 10, 64); err != nil {
				return 0, fmt.Errorf("%s: %w", j.log, err)
			}
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s does not say how many inputs were run", j.log)
	}
	return n, nil
}

// number returns the number behind a name and a colon.
func number(file, name string) (uint64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok && strings.HasPrefix(strings.TrimSpace(rest), ":") {
			return strconv.ParseUint(strings.Trim(rest, ": "), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s does not say %s", file, name)
}

func ours(j job) []string {
	return []string{j.self, "campaign", "-program", j.program, "-seeds", j.seeds, "-out", filepath.Join(j.out, "corpus"),
		"-time", j.time.String(), "-max-len", strconv.Itoa(j.limits.length), "-timeout", cmp.Or(j.limits.timeout, time.Second).String(), "-seed", strconv.FormatUint(j.seed, 10), "-workers", strconv.Itoa(max(j.workers, 1))}
}

func ourExecutions(j job) (uint64, error) {
	r, err := j.report()
	return r.Executions, err
}

// report is what our campaign prints when it ends.
type report struct {
	Executions uint64             `json:"executions"`
	Testcases  int                `json:"testcases"`
	Findings   int                `json:"findings"`
	Stages     map[string]portion `json:"stages"`
}

type portion struct {
	Executions uint64 `json:"executions"`
	Kept       uint64 `json:"kept"`
}

func (j job) report() (r report, err error) {
	text, err := os.ReadFile(j.log)
	if err != nil {
		return r, err
	}
	if i := strings.LastIndex(string(text), "\n{"); i >= 0 {
		text = text[i:]
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w\n%s", j.log, err, text)
	}
	return r, nil
}
