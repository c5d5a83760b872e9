package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/report"
)

func newReport() *cobra.Command {
	format, out, o := "text", "", options{}
	cmd := &cobra.Command{
		Use:     "report DIR",
		Short:   "Write the report of a campaign again, in any format",
		Example: "  teasel report --format sarif -o teasel.sarif teasel-out",
		Args:    oneArg("a campaign's directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneCampaign(args[0]); err != nil {
				return err
			}
			dir, err := openCampaign(args[0])
			if err != nil {
				return err
			}
			k, err := kindOf(dir.Meta().Kind, "a campaign")
			if err != nil {
				return err
			}
			accepted, err := acceptedHere()
			if err != nil {
				return err
			}
			if err := o.recall(k.name, accepted); err != nil {
				return err
			}
			_, problems, err := dir.Snapshot(nil)
			if err != nil {
				return failure(err)
			}
			warn(cmd.ErrOrStderr(), problems)
			r := reportRun(dir, dir.Summary(), k.rules())
			r.Baseline = o.known
			w := cmd.OutOrStdout()
			if out == "" {
				return writeReport(w, format, r)
			}
			f, err := os.Create(out)
			if err != nil {
				return usage("name a file that can be written", "writing the report: %w", err)
			}
			if err := writeReport(f, format, r); err != nil {
				_ = f.Close()
				return err
			}
			if err := f.Close(); err != nil {
				return failure(fmt.Errorf("writing the report: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().Var(choice{&format, report.Formats()}, "format", "format of the report")
	addBaseline(cmd, &o.Baseline)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	return cmd
}
