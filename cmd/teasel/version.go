package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of teasel and of what it was built with",
		Args:  flags.Args(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			version, revision := built()
			fmt.Fprintf(cmd.OutOrStdout(), "teasel %s (%s), %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// release and commit are set by scripts/release.sh, which builds without the repository's own account of them.
var release, commit string

// built returns the version and the revision that the program was built from: those of the release, of the module that go install has
// fetched, or of the repository.
func built() (version, revision string) {
	version, revision = cmp.Or(strings.TrimPrefix(release, "v"), campaign.Version), commit
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, cmp.Or(revision, "unknown revision")
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && revision == "" {
			revision = s.Value
		}
	}
	if revision == "" && info.Main.Version != "(devel)" {
		revision = info.Main.Version
	}
	return version, cmp.Or(revision, "unknown revision")
}

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: `Write one manual page for each command into a directory, for example

  teasel man ~/.local/share/man/man1`,
		Args: flags.Args(1, 1, "a directory for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return exit.Usage("name a directory that can be written", "writing manual pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same input, the same page
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: "TEASEL", Section: "1", Source: "teasel " + campaign.Version}, args[0]); err != nil {
				return exit.Usage("name a directory that can be written", "writing manual pages: %w", err)
			}
			if err := addManSections(root, args[0]); err != nil {
				return exit.Usage("name a directory that can be written", "writing manual pages: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "manual pages written to %s\n", args[0])
			return nil
		},
	}
}

// environment are the variables that are no flags.
const environment = `.TP
\fBTEASEL_CONFIG\fP
configuration file, in place of teasel.toml
.TP
\fBTEASEL_UI_TOKEN\fP
secret that the page of --ui asks for
.TP
\fBNO_COLOR\fP, \fBTERM=dumb\fP
no colours, and no live screen
.TP
\fBTMPDIR\fP, \fBXDG_CACHE_HOME\fP
where temporary files go, and where builds and the corpora of teasel go are kept
.TP
\fBGOGC\fP, \fBGOMAXPROCS\fP, \fBGOMEMLIMIT\fP
those of the Go runtime: what is set here, teasel leaves as it is
`

// files are the files that commands read and write.
const files = `.SH FILES
.TP
\fIteasel.toml\fP
configuration, in the working directory
.TP
\fIteasel-out/findings/ID.json\fP
a finding, with all that it takes to reproduce it
.TP
\fIteasel-out/crashes/ID\fP, \fIteasel-out/hangs/ID\fP
the input of a finding that is a crash or a hang
.TP
\fIteasel-out/interesting/\fP
the corpus: inputs that reached something new
`

// addManSections adds to each manual page which variables of the environment and which files its command uses.
func addManSections(cmd *cobra.Command, dir string) error {
	path := filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	page, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	text := ".SH ENVIRONMENT\n"
	if cmd.Flags().Lookup("config") != nil {
		text += ".TP\n\\fBTEASEL_FLAG\\fP\nvalue of a flag, its name in capital letters: TEASEL_DURATION=30s is --duration 30s; the command line takes precedence\n"
	}
	_, err = page.WriteString(text + environment + files)
	if err = errors.Join(err, page.Close()); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			if err := addManSections(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}
