// Package project is the verb init, which recognises what can be fuzzed in a folder and writes its configuration; and the run of that.
package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// workflowPath is where GitHub looks for workflows.
const workflowPath = ".github/workflows/teasel.yml"

// NewCommand returns the verb init.
func NewCommand() *cobra.Command {
	force, workflow := false, false
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Look at a project, and write a teasel.toml and a CI workflow for what can be fuzzed in it",
		Long: `Look at a folder for something to fuzz: an MCP server's package (package.json, pyproject.toml, requirements.txt or go.mod that
names an SDK), fuzz tests of Go packages, a harness with LLVMFuzzerTestOneInput, also of a CMake project or of cargo-fuzz, and
models of network protocols. Write a commented teasel.toml that names it, and, where .git is, a workflow that runs it. After that
'teasel' alone fuzzes it. Nothing is run, and no file is overwritten without --force.`,
		Example: `  teasel init && teasel
  teasel init --workflow=false server`,
		Args: flags.Args(0, 1, "the folder of a project"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return exit.Usage("name the folder of a project", "%s is no directory", dir)
			}
			if _, err := os.Stat(filepath.Join(dir, ".git")); !cmd.Flags().Changed("workflow") {
				workflow = err == nil
			}
			return initialise(cmd.OutOrStdout(), dir, force, workflow)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are there")
	cmd.Flags().BoolVar(&workflow, "workflow", false, "write "+workflowPath+" too (default: if there is a .git)")
	return cmd
}

// initialise writes the files for the project in a folder.
func initialise(w io.Writer, dir string, force, workflow bool) error {
	found := recognise(dir)
	if len(found) == 0 {
		return exit.Usage("to write "+flags.DefaultConfig+" by hand, name the command: [mcp], [native], or [net] with connect = \"127.0.0.1:{port}\", and in it command = [\"...\"]; docs/configuration.md has every key",
			"nothing to fuzz was recognised in %s: there is no MCP server (package.json, pyproject.toml, requirements.txt or go.mod that names an SDK), no Go fuzz test, no LLVMFuzzerTestOneInput, no cargo-fuzz target and no model of a protocol", dir)
	}
	files := []struct{ path, text string }{{filepath.Join(dir, flags.DefaultConfig), configText(found)}}
	if workflow {
		files = append(files, struct{ path, text string }{filepath.Join(dir, workflowPath), workflowText(found)})
	}
	for _, f := range files { // all or nothing
		if _, err := os.Lstat(f.path); err == nil && !force {
			return exit.Usage("--force overwrites it", "%s exists already", f.path)
		}
	}
	for _, f := range found {
		fmt.Fprintf(w, "found: %s\n", plain.Line(f.what))
	}
	for _, f := range files {
		err := os.MkdirAll(filepath.Dir(f.path), 0o777)
		if err == nil {
			err = os.WriteFile(f.path, []byte(f.text), 0o666)
		}
		if err != nil {
			return exit.Usage("", "writing %s: %w", f.path, err)
		}
		fmt.Fprintf(w, "wrote: %s\n", f.path)
	}
	fmt.Fprintf(w, "next:  %s\n", nextCommand(dir, found))
	return nil
}

// nextCommand returns what to type to fuzz.
func nextCommand(dir string, found []recognised) string {
	var steps []string
	if dir != "." {
		steps = append(steps, "cd "+plain.Quote(dir))
	}
	chosen := targets(found)
	for _, f := range chosen {
		steps = append(steps, f.build...)
	}
	run := "teasel"
	if len(chosen) > 1 {
		run += " " + chosen[0].kind
	}
	return strings.Join(append(steps, run), " && ")
}

// targets returns the first of each kind: the file has one table of a kind.
func targets(found []recognised) (first []recognised) {
	seen := map[string]bool{}
	for _, f := range found {
		if !seen[f.kind] {
			seen[f.kind] = true
			first = append(first, f)
		}
	}
	return first
}

// configText returns the configuration for what was found. Of each kind the first is active, and others are comments.
func configText(found []recognised) string {
	var b strings.Builder
	b.WriteString(`# What teasel fuzzes here: 'teasel' alone runs it. The keys are the names of the flags; docs/configuration.md has all of them.

# duration = "10m"     # how long to fuzz; without it, the profile says so
# fail-on = "high"     # exit with status 1 only for findings at least this bad
# workers = 2          # workers side by side
`)
	for _, kind := range flags.Kinds() {
		active := true
		for _, f := range found {
			if f.kind != kind {
				continue
			}
			comment := ""
			if !active {
				comment = "# "
			}
			fmt.Fprintf(&b, "\n# %s\n", strings.ReplaceAll(plain.Line(f.what), "\n", " "))
			for _, step := range f.build {
				fmt.Fprintf(&b, "# Built with: %s\n", plain.Line(step))
			}
			if active {
				fmt.Fprintf(&b, "[%s]\n", f.kind)
			}
			for line := range strings.Lines(f.table) {
				b.WriteString(comment + line)
			}
			active = false
		}
	}
	return b.String()
}

// RunConfigured fuzzes the one target that the configuration names. Without a configuration, the help is shown.
func RunConfigured(cmd *cobra.Command) error {
	ts, err := flags.ConfiguredTargets(cmd.Root())
	if err != nil {
		return err
	}
	if len(ts) == 0 {
		return cmd.Help()
	}
	if len(ts) > 1 {
		var list []string
		for _, t := range ts {
			list = append(list, fmt.Sprintf("teasel %s    # %s", t.Kind, plain.Line(t.Target)))
		}
		return exit.Usage("choose one of them:\n  "+strings.Join(list, "\n  "), "%s names %d targets", flags.DefaultConfig, len(ts))
	}
	verb, _, err := cmd.Root().Find([]string{ts[0].Kind})
	if err == nil {
		err = verb.ParseFlags(nil)
	}
	if err != nil {
		return exit.Failure(err)
	}
	verb.SetContext(cmd.Context())
	fmt.Fprintf(cmd.ErrOrStderr(), "teasel: teasel %s, as %s says\n", ts[0].Kind, flags.DefaultConfig)
	err = verb.RunE(verb, nil)
	var e *exit.Error
	if errors.As(err, &e) && errors.Is(e.Err, fs.ErrNotExist) && e.Hint == "" {
		e.Hint = "has it been built? " + flags.DefaultConfig + " says how"
	}
	return err
}
