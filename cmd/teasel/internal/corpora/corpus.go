package corpora

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/corpus/pack"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// NewCorpus returns the verb corpus.
func NewCorpus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Carry corpora between machines and runs, in a folder or in S3-compatible storage",
		Long: `Carry corpora between machines, and from one run of CI to the next, without a server of teasel's: push stores the testcases that a
place does not hold yet, pull fetches those that a directory does not hold yet. Any number of machines may do both at once.

A place is a folder, which any tool may synchronise, or s3://BUCKET/PREFIX, with the environment variables AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. Use one place for each target.`,
		Args: flags.KnownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCorpusPush(), newCorpusPull())
	return cmd
}

func newCorpusPush() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "push DIR TO",
		Short: "Store the testcases of a directory that a place does not hold",
		Long: `Store the testcases of a campaign, of the campaigns below a directory, or the inputs of a plain folder or zip archive, in packs of up to
500. What the place holds already is not stored again. The campaign may be running.`,
		Example: `  teasel corpus push teasel-out /mnt/shared/my-server
  teasel corpus push teasel-out s3://fuzzing/my-server --s3-endpoint https://s3.example.org`,
		Args: flags.Args(2, 2, "a directory with testcases, and the place that gets them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, entries, err := collect(cmd.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			c, err := newCarrier(cmd.ErrOrStderr(), args[1], endpoint)
			if err != nil {
				return err
			}
			p, err := c.Push(cmd.Context(), kind, entries)
			if err != nil {
				return carrierError(cmd.Context(), err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s in %s pushed to %s; %d of %d were there already\n",
				noun.Count(p.Entries, "testcase", "testcases"), noun.Count(p.Packs, "pack", "packs"), args[1], p.Known, p.Known+p.Entries)
			return nil
		},
	}
	addEndpoint(cmd, &endpoint)
	return cmd
}

func newCorpusPull() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "pull FROM DIR",
		Short: "Fetch the testcases of a place that a directory does not hold",
		Long: `Fetch testcases into a campaign's directory, where 'teasel resume' and a second run in the same directory run them and keep those that
reach something new, or into a plain folder for --corpus, which is created if there is none. Packs that are incomplete, damaged or of
another kind of target, and inputs that are too big or do not match their names, are reported and left out.`,
		Example: `  teasel corpus pull s3://fuzzing/my-server corpus
  teasel mcp --corpus corpus -- node server.js`,
		Args: flags.Args(2, 2, "the place with testcases, and the directory that gets them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, have, err := collect(io.Discard, args[1])
			if _, statErr := os.Stat(args[1]); errors.Is(statErr, fs.ErrNotExist) {
				kind, have, err = "", nil, nil
			}
			if err != nil {
				return err
			}
			c, err := newCarrier(cmd.ErrOrStderr(), args[0], endpoint)
			if err != nil {
				return err
			}
			p, err := c.Pull(cmd.Context(), args[1], kind, have)
			if err != nil {
				return carrierError(cmd.Context(), err)
			}
			if p.Other > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: %s left out, of another kind of target than %s: have a place for each target\n",
					noun.Count(p.Other, "pack is", "packs are"), kind)
			}
			if p == (pack.Pulled{}) {
				fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: there are no testcases at %s, where 'teasel corpus push' stores them\n", args[0])
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s pulled into %s; %d of %d were there already\n",
				noun.Count(p.Entries, "testcase", "testcases"), args[1], p.Known, p.Known+p.Entries)
			return nil
		},
	}
	addEndpoint(cmd, &endpoint)
	return cmd
}

func addEndpoint(cmd *cobra.Command, endpoint *string) {
	cmd.Flags().Var(flags.Named(endpoint), "s3-endpoint", "URL of the S3-compatible service (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or AWS in AWS_REGION)")
}

// newCarrier returns what carries packs to and from a place.
func newCarrier(stderr io.Writer, place, endpoint string) (*pack.Carrier, error) {
	c := &pack.Carrier{Where: place, Wrong: func(p *corpus.Problem) { fmt.Fprintf(stderr, "teasel: warning: %s\n", plain.Line(p.Error())) }}
	if dir, err := os.UserCacheDir(); err == nil {
		c.Cache = filepath.Join(dir, "teasel", "packs")
	}
	scheme, _, isURL := strings.Cut(place, "://")
	switch {
	case !isURL:
		c.Store = pack.Folder(place)
		if info, err := os.Stat(place); err == nil && !info.IsDir() {
			return nil, exit.Usage("", "%s is a file: expected a folder for packs, or s3://BUCKET/PREFIX", place)
		}
		return c, nil
	case scheme != "s3":
		return nil, exit.Usage("for storage that speaks S3, --s3-endpoint takes its URL", "%s: expected a folder for packs, or s3://BUCKET/PREFIX", place)
	}
	s, err := pack.ParseS3(place)
	if err != nil {
		return nil, exit.Usage("", "%w", err)
	}
	s.Endpoint = cmp.Or(endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	s.Region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	s.AccessKey, s.SecretKey, s.SessionToken = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")
	if s.Endpoint != "" && !strings.HasPrefix(s.Endpoint, "http://") && !strings.HasPrefix(s.Endpoint, "https://") {
		return nil, exit.Usage("for example --s3-endpoint https://s3.example.org", "--s3-endpoint %s: expected a URL", s.Endpoint)
	}
	if s.AccessKey == "" || s.SecretKey == "" {
		return nil, exit.Usage("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "%s needs an access key, and the environment has none", place)
	}
	c.Store = s
	return c, nil
}

// collect reads the testcases of a campaign, of all campaigns below a directory, or the inputs of a plain folder, file or archive.
func collect(stderr io.Writer, root string) (kind string, entries []pack.Entry, err error) {
	if !campaign.Any(root) {
		seeds, problems, err := corpus.Load(root, nil)
		if err != nil {
			return "", nil, exit.Usage("name a campaign's directory, or one of inputs", "%w", err)
		}
		campaign.Warn(stderr, problems)
		for _, s := range seeds {
			name := filepath.ToSlash(s.Name)
			entries = append(entries, pack.Entry{Place: place(path.Dir(name)), Extension: path.Ext(name), Data: s.Data})
		}
		return "", entries, nil
	}
	err = campaign.OpenEach(root, stderr, func(s campaign.Saved) error {
		m := s.Meta()
		if kind != "" && m.Kind != kind {
			return exit.Usage("push each of them to a place of its own", "%s has campaigns of kind %s, and %s is of kind %s", root, kind, s.Path(), m.Kind)
		}
		kind = m.Kind
		rel, err := filepath.Rel(root, s.Path())
		for i := range s.Kept.Entries {
			entries = append(entries, pack.Entry{Place: place(filepath.ToSlash(rel)), Extension: m.Extension, Data: s.Kept.Entries[i].Data})
		}
		return exit.Failure(err)
	})
	return kind, entries, err
}

// place returns the place of a directory in packs.
func place(dir string) string {
	if dir == "." || !utf8.ValidString(dir) {
		return ""
	}
	return dir
}

// carrierError returns the error of a push or a pull, with a hint.
func carrierError(ctx context.Context, err error) error {
	hint := "nothing is lost: run the command again when the place can be reached"
	switch {
	case ctx.Err() != nil:
		return exit.InterruptedOr(ctx, err)
	case errors.Is(err, pack.ErrRefused):
		return exit.Usage("check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, what they may do in the bucket, and this machine's clock", "%w", err)
	case errors.Is(err, pack.ErrNoBucket):
		return exit.Usage("create the bucket first, or name another one", "%w", err)
	case errors.Is(err, corpus.ErrLocked), errors.Is(err, corpus.ErrVersion):
		return campaign.OpenError(err)
	case errors.Is(err, fs.ErrPermission):
		hint = "name a place that can be read and written"
	}
	return &exit.Error{Status: exit.StatusFailure, Err: err, Hint: hint}
}
