// Package cov shows which lines and functions of a program inputs reach, by clang's source coverage.
package cov

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

const buildHint = "build it with source coverage: TEASEL_COVERAGE=1 teasel cc -g -fsanitize=fuzzer harness.c -o harness-cov\n" +
	"hint: or a whole project: TEASEL_COVERAGE=1 ./configure CC='teasel cc' CXX='teasel c++' && TEASEL_COVERAGE=1 make"

// config says which program is run, and how.
type config struct {
	Command []string      // the program and its arguments; @@ stands for the file of the input
	Env     []string      // NAME=VALUE, beside those that are inherited
	Dir     string        // working directory; "": this one
	Objects []string      // shared libraries whose lines count as well
	Timeout time.Duration // of one run
}

// coverage is what inputs reach in a program. It is not safe for concurrent use.
type coverage struct {
	config
	harness  bool              // it takes files as arguments, many at a time
	images   []string          // files with coverage mappings: the program, shared libraries
	clangs   []int             // major versions of those that built the program
	tools    map[string]string // paths of llvm's programs, by name
	temp     string            // for inputs and profiles; "": nothing was run
	abnormal int               // inputs that crashed, hung or ended with another status than 0
}

// newCoverage looks at the program, and for llvm's programs that can read its profiles.
func newCoverage(o config) (*coverage, error) {
	o.Command = slices.Clone(o.Command)
	c := &coverage{config: o, tools: map[string]string{}}
	path, err := exec.LookPath(c.Command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("looking for the program: %w", err), Hint: buildHint}
	}
	c.Command[0] = path
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: err}
	}
	if sourceCoverage(data) {
		c.images = append(c.images, path)
	} else if len(c.Objects) == 0 {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("%s has no source coverage in it", path), Hint: buildHint}
	}
	for _, o := range c.Objects {
		library, err := os.ReadFile(o)
		if err != nil {
			return nil, exit.Usage("name a shared library, for example --object ./libfoo.so", "--object: %w", err)
		}
		if !sourceCoverage(library) {
			return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("--object %s has no source coverage in it", o),
				Hint: "build it with source coverage: TEASEL_COVERAGE=1 teasel cc -g -fPIC -shared foo.c -o libfoo.so"}
		}
		c.images = append(c.images, o)
	}
	// Only the main of libFuzzer and ours, which take many files, have this text.
	c.harness = bytes.Contains(data, []byte("NOTE: fuzzing was not performed"))
	c.clangs = clangVersions(data)
	for _, tool := range [...]string{"llvm-profdata", "llvm-cov"} {
		if c.tools[tool] = lookTool(tool, c.clangs); c.tools[tool] == "" {
			return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("%s is not in PATH", tool), Hint: c.toolsHint()}
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
	comments, err := section.Data()
	if err != nil {
		return nil
	}
	for _, m := range clangVersion.FindAllSubmatch(comments, -1) {
		if v, err := strconv.Atoi(string(m[1])); err == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b int) int { return b - a })
	return slices.Compact(versions)
}

// lookTool returns the path of one of llvm's programs: with one of these versions behind its name, as Debian names them, or else with
// none, or with the highest version there is; "": it is not installed.
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

// runTool runs one of llvm's programs and returns what it writes.
func (c *coverage) runTool(tool string, stdin io.Reader, args ...string) ([]byte, error) {
	var out, stderr bytes.Buffer
	cmd := exec.Command(c.tools[tool], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &stderr
	if err := cmd.Run(); err != nil {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("running %s: %w: %s", tool, err, strings.TrimSpace(stderr.String())), Hint: c.toolsHint()}
	}
	return out.Bytes(), nil
}

// Write writes what the inputs have reached, in one of the formats. The pages of html are written to the directory out, and the path of
// the first one to w.
func (c *coverage) Write(w io.Writer, format, out string) error {
	raw, err := filepath.Glob(filepath.Join(c.temp, "*.profraw"))
	if err != nil {
		return exit.Failure(err)
	}
	if len(raw) == 0 {
		return &exit.Error{Status: exit.StatusTarget, Err: errors.New("no run has left a profile"), Hint: buildHint}
	}
	profile := filepath.Join(c.temp, "all.profdata")
	if _, err := c.runTool("llvm-profdata", nil, append([]string{"merge", "-sparse", "-o", profile}, raw...)...); err != nil {
		return err
	}
	args := []string{"-instr-profile=" + profile, c.images[0]}
	for _, o := range c.images[1:] {
		args = append(args, "-object", o)
	}
	switch format {
	case "html":
		if err := os.MkdirAll(out, 0o755); err != nil {
			return exit.Usage("choose another directory with --out", "making a directory for the pages: %w", err)
		}
		if _, err := c.runTool("llvm-cov", nil, append([]string{"show", "-format=html", "-show-line-counts-or-regions", "-output-dir=" + out}, args...)...); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, filepath.Join(out, "index.html"))
		return exit.Failure(err)
	case "lcov":
		args = append([]string{"export", "-format=lcov"}, args...)
	default:
		args = append([]string{"export", "-format=text"}, args...)
	}
	text, err := c.runTool("llvm-cov", nil, args...)
	if err != nil {
		return err
	}
	if format == "text" {
		return c.tables(text, w)
	}
	_, err = w.Write(text)
	return exit.Failure(err)
}

// formats returns the formats of a result, the usual one first.
func formats() []string { return []string{"text", "json", "lcov", "html"} }

// Close removes the temporary files.
func (c *coverage) Close() {
	if c.temp != "" {
		os.RemoveAll(c.temp)
	}
}
