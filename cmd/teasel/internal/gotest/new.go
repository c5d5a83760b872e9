package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/gofunc/generate"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

func newNew() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "new PACKAGE [FUNCTION...]",
		Short: "Write fuzz tests for functions that have none",
		Long: `List the exported functions of a package that can be fuzzed: those that take text, bytes or a reader, and otherwise only
what a fuzz test can make. With FUNCTIONs, write a fuzz test for each: one that has an inverse, such as Decode for
Encode, has to give its argument back, the others must not panic.`,
		Example: `  teasel go new ./parser
  teasel go new ./parser Parse Encode
  teasel go ./parser`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("for example: teasel go new ./parser", "new takes a package, and the functions to write fuzz tests for")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, all, tests, err := fuzzable(cmd, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				for _, f := range all {
					fmt.Fprintln(cmd.OutOrStdout(), f)
				}
				return nil
			}
			var chosen []generate.Function
			for _, name := range args[1:] {
				i := slices.IndexFunc(all, func(f generate.Function) bool { return f.Name == name })
				if i < 0 {
					return exit.Usage("'teasel go new "+plain.Quote(args[0])+"' lists those that can", "%s has no function %s that can be fuzzed", args[0], name)
				}
				if at, ok := tests[all[i].TestName()]; ok {
					return exit.Usage("name functions that have none; the one there runs with 'teasel go --run "+all[i].TestName()+" "+plain.Quote(args[0])+"'",
						"there is a %s already, in line %d of %s", all[i].TestName(), at.Line, relativePath(at.Filename))
				}
				chosen = append(chosen, all[i])
			}
			return writeFuzzTests(cmd, dir, out, args[0], chosen)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "fuzz_test.go", "name of the file to write, in the package's directory")
	return cmd
}

// fuzzable returns the directory of a package, its functions that can be fuzzed, and where those of its tests are declared.
func fuzzable(cmd *cobra.Command, pattern string) (dir string, all []generate.Function, tests map[string]token.Position, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil, nil, exit.Failure(err)
	}
	tc, err := overlay.FindToolchain(cmd.Context(), here)
	if err != nil {
		return "", nil, nil, commandError(cmd.Context(), err)
	}
	text, err := tc.Run(cmd.Context(), here, "list", "-json=Dir,GoFiles,TestGoFiles,XTestGoFiles,ImportPath", "--", pattern)
	if err != nil {
		return "", nil, nil, unreadable(cmd.Context(), pattern, err)
	}
	var p struct {
		Dir, ImportPath                    string
		GoFiles, TestGoFiles, XTestGoFiles []string
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return "", nil, nil, exit.Usage("name one of them: go list "+plain.Quote(pattern), "%s is more than one package", pattern)
	}
	if all, err = generate.Functions(p.Dir, p.GoFiles); err != nil {
		return "", nil, nil, exit.Usage("", "%w", err)
	}
	if len(all) == 0 {
		return "", nil, nil, exit.Usage("a fuzz test can make text, bytes, numbers and readers", "%s has no exported function that can be fuzzed", p.ImportPath)
	}
	if tests, err = generate.Tests(p.Dir, append(p.TestGoFiles, p.XTestGoFiles...)); err != nil {
		return "", nil, nil, exit.Usage("", "%w", err)
	}
	return p.Dir, all, tests, nil
}

// unreadable returns the error of a package that the go command does not find, in its words.
func unreadable(ctx context.Context, pattern string, err error) error {
	g, ok := errors.AsType[*overlay.GoError](err)
	if !ok || ctx.Err() != nil {
		return commandError(ctx, err)
	}
	hint := "name a package of this module by its folder, such as ./parser; all there are: go list ./..."
	if info, err := os.Stat(pattern); err == nil && info.IsDir() && !strings.HasPrefix(pattern, ".") {
		hint = "a package of this module is written with ./ before it: ./" + pattern
	}
	return exit.Usage(hint, "there is no package %s: %s", pattern, strings.TrimSpace(g.Stderr))
}

// writeFuzzTests writes a new file.
func writeFuzzTests(cmd *cobra.Command, dir, name, pattern string, chosen []generate.Function) error {
	text, err := generate.Test(chosen)
	if err != nil {
		return exit.Failure(err)
	}
	path := filepath.Join(dir, filepath.Base(name))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage("choose another file with --out", "%s is there already", path)
	}
	if err != nil {
		return exit.Usage("choose another file with --out", "writing fuzz tests: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return exit.Failure(fmt.Errorf("writing fuzz tests: %w", err))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s; to run: teasel go %s\n", path, noun.Count(len(chosen), "fuzz test", "fuzz tests"), plain.Quote(pattern))
	return nil
}
