// Package libfuzzer does what libFuzzer does with its flags. A harness that teasel cc has linked calls it, through the hidden verb
// libfuzzer, when it is started by hand to fuzz.
package libfuzzer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// libFuzzer's exit statuses, beside those that flags choose.
const (
	statusError = 1
	statusOOM   = 71
)

// harness is a harness that was started by hand with libFuzzer's flags.
type harness struct {
	*harnessFlags
	command []string // the harness, and the arguments of a main of its own
	target  native.Target
	w       io.Writer // for all output, as libFuzzer has it: standard error
}

// run does what libFuzzer does with args. The command is the harness, with the arguments for a main of its own.
func run(ctx context.Context, command, args []string, w io.Writer) error {
	f, err := parseFlags(args, w)
	if err != nil {
		return err
	}
	if f.help != 0 {
		f.usage(w, command[0])
		return nil
	}
	h := &harness{f, command, native.Target{Command: command, Timeout: time.Duration(f.timeout) * time.Second,
		Memory: uint64(f.rss) << 20, Malloc: uint64(max(f.allocation, 0)) << 20}, w}
	if f.leaks == 0 {
		for _, name := range [...]string{"ASAN_OPTIONS", "LSAN_OPTIONS"} {
			h.target.Env = append(h.target.Env, name+"="+os.Getenv(name)+":detect_leaks=0")
		}
	}
	if f.rss <= 0 {
		h.target.Memory = math.MaxInt64
	}
	if f.timeout <= 0 {
		h.target.Timeout = 24 * time.Hour
	}
	user := ctx
	if f.maxTime > 0 && f.jobs == 0 && (f.minimize > 0 || f.merge > 0) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(f.maxTime)*time.Second)
		defer cancel()
	}
	switch {
	case f.jobs > 0:
		err = h.runJobs(ctx, args)
	case f.cleanse > 0:
		err = h.cleanseCrash(ctx)
	case f.minimize > 0:
		err = h.minimizeCrash(ctx)
	case f.merge > 0:
		err = h.mergeInto(ctx)
	default:
		err = h.fuzz(ctx)
	}
	if err == nil && user.Err() != nil {
		return h.interrupted()
	}
	if e := (*exit.Error)(nil); err == nil || errors.As(err, &e) && e.Status != exit.StatusTarget && e.Status != exit.StatusFailure {
		return err
	}
	return &exit.Error{Status: statusError, Err: err}
}

// interrupted reports that the user has stopped the run, and returns the error for it.
func (h *harness) interrupted() error {
	h.printf("==%d== libFuzzer: run interrupted; exiting\n", os.Getpid())
	return &exit.Error{Status: h.interruptStatus}
}

func (h *harness) printf(format string, args ...any) { fmt.Fprintf(h.w, format, args...) }

// usageError returns an error for a mistake of the user's, with the exit status that libFuzzer has for it.
func usageError(hint, format string, args ...any) error {
	return &exit.Error{Status: statusError, Err: fmt.Errorf(format, args...), Hint: hint}
}

// load reads inputs: files, and directories with all that is below them.
func (h *harness) load(paths []string) (seeds []corpus.Seed, err error) {
	for _, path := range paths {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && h.missing > 0 {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return nil, usageError("", "making a directory that is missing: %w", err)
			}
		} else if err != nil {
			return nil, usageError("make it, or add -create_missing_dirs=1", "the required directory %q does not exist", path)
		}
		more, problems, err := corpus.Load(path, nil)
		if err != nil {
			return nil, usageError("", "%w", err)
		}
		campaign.Warn(h.w, problems)
		h.printf("INFO: %8d files found in %s\n", len(more), path)
		for _, s := range more {
			s.Data = h.cut(s.Data)
			seeds = append(seeds, s)
		}
	}
	return seeds, nil
}

// cut makes an input as short as -max_len says.
func (h *harness) cut(in []byte) []byte {
	if h.maxLen > 0 && len(in) > h.maxLen {
		return in[:h.maxLen]
	}
	return in
}

// seeds returns the inputs to begin with.
func (h *harness) seeds() ([]corpus.Seed, error) {
	paths := h.inputs
	if list, ok := strings.CutPrefix(h.seedInputs, "@"); ok {
		data, err := os.ReadFile(list)
		if err != nil {
			return nil, usageError("-seed_inputs=@FILE takes a file with names, commas between them", "reading -seed_inputs: %w", err)
		}
		h.seedInputs = strings.TrimSpace(string(data))
	}
	for name := range strings.SplitSeq(h.seedInputs, ",") {
		if name != "" {
			paths = append(paths, name)
		}
	}
	return h.load(paths)
}

// output returns the directory that new inputs are written to; "": none.
func (h *harness) output() string {
	if len(h.inputs) == 0 {
		return ""
	}
	if info, err := os.Stat(h.inputs[0]); err != nil || !info.IsDir() {
		return ""
	}
	return h.inputs[0]
}

// fuzz runs a campaign. It has no directory: testcases and the inputs of findings are plain files where the flags say.
func (h *harness) fuzz(ctx context.Context) error {
	seeds, err := h.seeds()
	if err != nil {
		return err
	}
	dictionary, err := h.dictionary()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newReporter(h, seeds, cancel)
	if h.runs >= 0 && h.runs <= len(seeds) { // libFuzzer runs all of them, whatever the limit
		return h.runOnce(ctx, seeds, r)
	}
	c := native.Campaign(h.target, &mutate.Bytes{MaxLen: h.maxLen, Dictionary: dictionary})
	for _, s := range seeds {
		c.Seeds = append(c.Seeds, s.Data)
	}
	if len(seeds) == 0 {
		h.printf("INFO: A corpus is not provided, starting from an empty corpus\n")
		for _, s := range native.Seeds() {
			c.Seeds = append(c.Seeds, h.cut(s.Input))
		}
	}
	c.Reporters = []teasel.Reporter{r}
	if dir := h.output(); dir != "" && h.reload > 0 {
		c.Source = &reloader{dir: dir, every: time.Duration(h.reload) * time.Second, cut: h.cut, known: r.known, seen: map[string]stamp{}}
	}
	c.Duration = time.Duration(h.maxTime) * time.Second
	c.Workers = max(h.fork, 1)
	if h.runs > 0 {
		c.Runs = uint64(h.runs)
	}
	if c.Seed = uint64(h.seed); h.seed == 0 {
		c.Seed = flags.DrawSeed()
	}
	h.printf("INFO: Running with teasel %s, %d worker(s)\nINFO: Seed: %d\n", campaign.Version, c.Workers, c.Seed)
	sum, err := c.Run(ctx)
	if err != nil {
		return err
	}
	r.done(&sum)
	if r.status != exit.StatusOK {
		return &exit.Error{Status: r.status}
	}
	var e *exit.Error
	if err := campaign.NothingTested(ctx, "native", &sum); errors.As(err, &e) {
		return usageError("-timeout and -max_total_time give the harness longer", "%w", e.Err)
	}
	return nil
}

func (h *harness) dictionary() (*mutate.Dictionary, error) {
	d := &mutate.Dictionary{}
	if h.dict == "" {
		return d, nil
	}
	if err := d.LoadFile(h.dict); err != nil {
		return nil, usageError(`a dictionary has lines such as name="value", with \xNN for odd bytes`, "%w", err)
	}
	h.printf("Dictionary: %d entries\n", d.Len())
	return d, nil
}

// runOnce runs the inputs, and no others.
func (h *harness) runOnce(ctx context.Context, seeds []corpus.Seed, r *reporter) error {
	start := time.Now()
	m, err := replay.All(ctx, h.w, h.target, native.Detect, seeds)
	if err != nil {
		return err
	}
	for i := range m.Entries {
		r.count(&m.Entries[i])
	}
	for i := range m.Findings {
		if err := r.found(&m.Findings[i]); err != nil {
			return err
		}
	}
	r.done(&teasel.Summary{Stats: teasel.Stats{Elapsed: time.Since(start), Executions: uint64(m.Runs)}})
	if r.status != exit.StatusOK {
		return &exit.Error{Status: r.status}
	}
	return nil
}
