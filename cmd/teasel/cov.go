package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/corpus"
)

const covBuild = "build it with source coverage: TEASEL_COVERAGE=1 teasel cc -g -fsanitize=fuzzer harness.c -o harness-cov\n" +
	"hint: or a whole project: TEASEL_COVERAGE=1 ./configure CC='teasel cc' CXX='teasel c++' && TEASEL_COVERAGE=1 make"

func newCov() *cobra.Command {
	var format, out string
	var objects []string
	var timeout time.Duration
	formats := []string{"text", "json", "lcov", "html"}
	format = formats[0]
	cmd := &cobra.Command{
		Use:   "cov DIR [-- PROGRAM [ARG... @@]]",
		Short: "Show which lines and functions a corpus reaches",
		Long: `Run the inputs of a campaign, or of any directory, on a build of the program that has clang's source coverage, and show
which lines of which files they reach, and which functions they do not. An input that crashes or hangs counts as far as it
came, if the program is a harness that 'teasel cc' has built; with a main of the program's own, it does not count.

The program has to be built for this, beside the build that is fuzzed, with TEASEL_COVERAGE=1 in the environment of
'teasel cc' and 'teasel c++'. A harness, standard input and @@ are treated as 'teasel native' treats them. Of a shared
library that was built so, and that the program loads, --object shows the lines as well.`,
		Example: `  TEASEL_COVERAGE=1 teasel cc -g -fsanitize=fuzzer harness.c -o harness-cov
  teasel cov teasel-out -- ./harness-cov
  teasel cov --format html -o coverage teasel-out -- ./harness-cov
  teasel cov --format lcov corpus -- ./xmllint-cov @@ > corpus.info
  teasel cov --object libxml2-cov.so teasel-out -- ./harness-cov`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("for example: teasel cov teasel-out -- ./harness-cov", "cov takes a campaign's directory, or one of inputs")
			}
			c, err := newCoverage(args[0], args[1:], objects, timeout)
			if err != nil {
				return err
			}
			seeds, problems, err := covered(args[0])
			if err != nil {
				return usage("name a campaign's directory, or one of inputs", "%w", err)
			}
			warn(cmd.ErrOrStderr(), problems)
			if c.dir, err = os.MkdirTemp("", "teasel-cov-"); err != nil {
				return failure(err)
			}
			defer os.RemoveAll(c.dir)
			if err := c.replay(cmd.Context(), seeds, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return c.show(format, out, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.Var(choice{&format, formats}, "format", "text: tables; json and lcov: as llvm-cov exports them; html: pages in the directory --out")
	f.StringVarP(&out, "out", "o", "teasel-cov", "directory for --format html")
	f.StringArrayVar(&objects, "object", nil, "shared library, built with source coverage, whose lines count as well; may be given several times")
	f.DurationVar(&timeout, "timeout", 10*time.Second, "time limit of one run")
	return cmd
}

// covered returns the inputs below path; of a campaign, those of its crashes and hangs too.
func covered(path string) (seeds []corpus.Seed, problems []*corpus.Problem, err error) {
	seeds, problems, err = corpus.Load(path, nil)
	if err != nil || !corpus.IsCampaign(path) {
		return seeds, problems, err
	}
	for _, name := range []string{corpus.Crashes, corpus.Hangs} {
		more, bad, err := corpus.Load(filepath.Join(path, name), nil)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		seeds, problems = append(seeds, more...), append(problems, bad...)
	}
	return seeds, problems, nil
}

// coverage is a program with clang's source coverage, and what it takes to run inputs on it.
type coverage struct {
	command  []string
	env      []string
	wd       string
	harness  bool // it takes files as arguments, many at a time
	timeout  time.Duration
	objects  []string          // what has the coverage: the program, shared libraries
	clangs   []int             // major versions of those that built the program
	tools    map[string]string // paths of llvm's, by name
	dir      string            // for inputs and profiles
	abnormal int               // inputs that did not end well
}

// newCoverage looks at the program that the user names, or that the campaign in dir is about.
func newCoverage(dir string, command, objects []string, timeout time.Duration) (*coverage, error) {
	c := &coverage{command: slices.Clone(command), timeout: timeout, tools: map[string]string{}}
	if timeout <= 0 {
		return nil, usage("", "--timeout %v: expected more than nothing", timeout)
	}
	if len(command) == 0 {
		if err := c.ofCampaign(dir); err != nil {
			return nil, err
		}
	}
	path, err := exec.LookPath(c.command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, &exit{status: exitTarget, err: fmt.Errorf("looking for the program: %w", err), hint: covBuild}
	}
	c.command[0] = path
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &exit{status: exitTarget, err: err}
	}
	if sourceCoverage(data) {
		c.objects = append(c.objects, path)
	} else if len(objects) == 0 {
		return nil, &exit{status: exitTarget, err: fmt.Errorf("%s has no source coverage in it", path), hint: covBuild}
	}
	for _, o := range objects {
		library, err := os.ReadFile(o)
		if err != nil {
			return nil, usage("name a shared library, for example --object ./libfoo.so", "--object: %w", err)
		}
		if !sourceCoverage(library) {
			return nil, &exit{status: exitTarget, err: fmt.Errorf("--object %s has no source coverage in it", o),
				hint: "build it with source coverage: TEASEL_COVERAGE=1 teasel cc -g -fPIC -shared foo.c -o libfoo.so"}
		}
		c.objects = append(c.objects, o)
	}
	// Only a main such as libFuzzer's and ours, which take many files, says this.
	c.harness = bytes.Contains(data, []byte("NOTE: fuzzing was not performed"))
	c.clangs = clangVersions(data)
	for _, tool := range [...]string{"llvm-profdata", "llvm-cov"} {
		if c.tools[tool] = lookTool(tool, c.clangs); c.tools[tool] == "" {
			return nil, &exit{status: exitTarget, err: fmt.Errorf("%s is not in PATH", tool), hint: c.toolsHint()}
		}
	}
	c.tools["llvm-cxxfilt"] = lookTool("llvm-cxxfilt", c.clangs)
	return c, nil
}

// sourceCoverage reports whether a program or a library was built with clang's source coverage.
func sourceCoverage(image []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(image))
	return err == nil && f.Section("__llvm_covmap") != nil
}

// ofCampaign takes the program of a campaign.
func (c *coverage) ofCampaign(dir string) error {
	const hint = "name the program: teasel cov DIR -- ./harness-cov"
	d, err := corpus.OpenReadOnly(dir)
	if err != nil {
		return usage(hint, "%s names no program: %w", dir, err)
	}
	var t struct {
		Command []string
		Env     []string
		Dir     string
	}
	if m := d.Meta(); m.Kind != "native" || json.Unmarshal(m.Target, &t) != nil || len(t.Command) == 0 {
		return usage(hint, "%s is a campaign of kind %s, not of a native program", dir, m.Kind)
	}
	c.command, c.env, c.wd = t.Command, environment(t.Env), t.Dir
	return inherited(t.Env)
}

var clangVersion = regexp.MustCompile(`clang version (\d+)\.`)

// clangVersions returns which clangs have built parts of a program, by their major versions, the newest first.
func clangVersions(image []byte) (versions []int) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil
	}
	section := f.Section(".comment")
	if section == nil {
		return nil
	}
	signed, err := section.Data()
	if err != nil {
		return nil
	}
	for _, m := range clangVersion.FindAllSubmatch(signed, -1) {
		if v, err := strconv.Atoi(string(m[1])); err == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b int) int { return b - a })
	return slices.Compact(versions)
}

// lookTool finds one of llvm's programs, if it can with one of these versions behind its name, as Debian has them, or else
// with none, or with the highest there is; "": not there.
func lookTool(name string, versions []int) string {
	var names []string
	for _, v := range versions {
		names = append(names, fmt.Sprintf("%s-%d", name, v))
	}
	names = append(names, name)
	const newest, oldest = 40, 11
	for v := newest; v >= oldest; v-- {
		names = append(names, fmt.Sprintf("%s-%d", name, v))
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path
		}
	}
	return ""
}

// toolsHint says which of llvm's programs are needed.
func (c *coverage) toolsHint() string {
	hint, debian := "llvm's tools have to be of the version of the clang that built the program", "llvm"
	if len(c.clangs) > 0 {
		hint += fmt.Sprintf(", %d", c.clangs[0])
		debian += fmt.Sprintf("-%d", c.clangs[0])
	}
	return hint + "; on Debian: apt-get install " + debian
}

// run runs one of llvm's programs and returns what it writes.
func (c *coverage) run(tool string, stdin io.Reader, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := exec.Command(c.tools[tool], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &said
	if err := cmd.Run(); err != nil {
		return nil, &exit{status: exitTarget, err: fmt.Errorf("running %s: %w: %s", tool, err, strings.TrimSpace(said.String())), hint: c.toolsHint()}
	}
	return out.Bytes(), nil
}

// show merges the profiles and writes what they come to.
func (c *coverage) show(format, out string, w io.Writer) error {
	raw, err := filepath.Glob(filepath.Join(c.dir, "*.profraw"))
	if err != nil {
		return failure(err)
	}
	if len(raw) == 0 {
		return &exit{status: exitTarget, err: errors.New("no run has left a profile"), hint: covBuild}
	}
	profile := filepath.Join(c.dir, "all.profdata")
	if _, err := c.run("llvm-profdata", nil, append([]string{"merge", "-sparse", "-o", profile}, raw...)...); err != nil {
		return err
	}
	args := []string{"-instr-profile=" + profile, c.objects[0]}
	for _, o := range c.objects[1:] {
		args = append(args, "-object", o)
	}
	switch format {
	case "html":
		if err := os.MkdirAll(out, 0o755); err != nil {
			return usage("choose another directory with --out", "making a directory for the pages: %w", err)
		}
		if _, err := c.run("llvm-cov", nil, append([]string{"show", "-format=html", "-show-line-counts-or-regions", "-output-dir=" + out}, args...)...); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, filepath.Join(out, "index.html"))
		return failure(err)
	case "lcov":
		args = append([]string{"export", "-format=lcov"}, args...)
	default:
		args = append([]string{"export", "-format=text"}, args...)
	}
	text, err := c.run("llvm-cov", nil, args...)
	if err != nil {
		return err
	}
	if format == "text" {
		return c.tables(text, w)
	}
	_, err = w.Write(text)
	return failure(err)
}
