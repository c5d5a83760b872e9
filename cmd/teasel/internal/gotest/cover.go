package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// checkCover refuses a file of --cover that cannot be written, before the run takes its time; "": the flag is not set.
func checkCover(file string) error {
	const hint = "name a file that can be written"
	if file == "" {
		return nil
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return exit.Usage(hint, "--cover %s: it is a directory", file)
	case err == nil:
		f, err := os.OpenFile(file, os.O_WRONLY, 0) // it is overwritten at the end
		if err != nil {
			return exit.Usage(hint, "--cover: %w", err)
		}
		return exit.Failure(f.Close())
	}
	folder := filepath.Dir(file)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return exit.Usage(hint, "--cover %s: there is no directory %s", file, folder)
	}
	if err := corpus.Writable(folder); err != nil {
		return exit.Usage(hint, "--cover %s: %w", file, err)
	}
	return nil
}

// cover writes the coverage profile of what the corpora of all fuzz tests reach. It warns of tests that cannot be measured.
func (s *testRun) cover(ctx context.Context, w io.Writer) error {
	work, err := os.MkdirTemp("", "teasel-cover")
	if err != nil {
		return exit.Failure(fmt.Errorf("measuring coverage: %w", err))
	}
	defer os.RemoveAll(work)
	var lines strings.Builder
	lines.WriteString("mode: set\n")
	binaries := map[string]string{} // by the package's directory
	for i, t := range s.tests {
		binary := binaries[t.pkg.Dir]
		if binary == "" {
			f := s.options.flags()
			f.Race, f.Cover = false, t.pkg.Path
			if t.pkg.Module != "" {
				f.Cover = t.pkg.Module + "/..."
			}
			binary = filepath.Join(work, fmt.Sprintf("cover%d.test", i))
			if err := s.builder.Build(ctx, t.pkg.Dir, f, binary); err != nil {
				fmt.Fprintf(w, "teasel: warning: the coverage of %s is missing: %s\n", t, plain.Text(err.Error()))
				continue
			}
			binaries[t.pkg.Dir] = binary
		}
		profile, err := t.profile(ctx, binary, filepath.Join(work, fmt.Sprintf("%d.out", i)))
		if err != nil {
			fmt.Fprintf(w, "teasel: warning: the coverage of %s is missing: %s\n", t, plain.Text(err.Error()))
			continue
		}
		_, blocks, _ := strings.Cut(profile, "\n")
		lines.WriteString(blocks)
	}
	if err := os.WriteFile(s.options.Cover, []byte(lines.String()), 0o644); err != nil {
		return exit.Usage("name a file that can be written", "--cover: %w", err)
	}
	fmt.Fprintf(w, "teasel: the coverage profile is in %s; to look at it: go tool cover -html=%s\n", s.options.Cover, plain.Quote(s.options.Cover))
	return nil
}

// profile runs a fuzz test on the corpus of its campaign and returns the coverage profile.
func (t *fuzzTest) profile(ctx context.Context, binary, file string) (string, error) {
	inputs, err := filepath.Abs(filepath.Join(t.out, corpus.Interesting))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^"+t.target.Name+"$", "-test.coverprofile="+file, "-test.timeout=10m")
	cmd.Dir, cmd.Env = t.pkg.Dir, append(os.Environ(), overlay.CorpusEnvironment+"="+inputs)
	out, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(file)
	if err != nil {
		return "", errors.Join(fmt.Errorf("the test has written no profile: %w", runErr), errors.New(string(out)))
	}
	return string(text), nil
}
