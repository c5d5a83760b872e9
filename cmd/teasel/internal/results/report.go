package results

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/report"
)

func NewReport() *cobra.Command {
	format, out, o := "text", "", flags.Options{}
	cmd := &cobra.Command{
		Use:     "report [DIR]",
		Short:   "Write the report of a campaign again, in any format",
		Example: "  teasel report --format sarif -o teasel.sarif\n  teasel report --format html -o report.html other-out",
		Args:    flags.AtMostOne("a campaign's directory"), ValidArgsFunction: completeDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := orDefault(args)
			if err := campaign.RequireOne(path); err != nil {
				return err
			}
			dir, err := campaign.OpenReadOnly(path)
			if err != nil {
				return err
			}
			k, err := kinds.Of(dir.Meta().Kind, "a campaign")
			if err != nil {
				return err
			}
			accepted, err := flags.AcceptedInConfig(cmd)
			if err != nil {
				return err
			}
			if err := o.LoadBaseline(k.Name, accepted); err != nil {
				return err
			}
			_, problems, err := dir.Snapshot(nil)
			if err != nil {
				return exit.Failure(err)
			}
			campaign.Warn(cmd.ErrOrStderr(), problems)
			r := k.Report(dir, dir.Summary())
			r.Baseline = o.Known
			w := cmd.OutOrStdout()
			if out == "" {
				return campaign.WriteReport(w, format, r)
			}
			f, err := os.Create(out)
			if err != nil {
				return exit.Usage("name a file that can be written", "writing the report: %w", err)
			}
			if err := campaign.WriteReport(f, format, r); err != nil {
				_ = f.Close()
				return err
			}
			if err := f.Close(); err != nil {
				return exit.Failure(fmt.Errorf("writing the report: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().Var(flags.Choice(&format, report.Formats()), "format", "format of the report")
	flags.AddBaseline(cmd, &o.Baseline)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	return cmd
}
