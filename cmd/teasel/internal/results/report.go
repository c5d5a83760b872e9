package results

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/report"
)

// NewReport returns the verb report.
func NewReport() *cobra.Command {
	format, out, o := "", "", flags.Options{}
	cmd := &cobra.Command{
		Use:     "report [DIR]",
		Short:   "Write the report of a campaign again, in any format",
		Example: "  teasel report --format sarif\n  teasel report -o report.html other-out",
		Args:    flags.Args(0, 1, "a campaign's directory"), ValidArgsFunction: completeDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := campaign.Open(orDefault(args), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			k, err := kinds.Of(s.Meta().Kind, "a campaign")
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
			r := k.Report(s.Dir, s.Summary())
			r.Baseline = o.Known
			format = cmp.Or(format, report.FormatOf(out), "text")
			if out == "" {
				err = campaign.WriteReport(cmd.OutOrStdout(), format, r)
			} else {
				err = campaign.WriteReportFile(flags.ReportFile{Format: format, Path: out}, r)
			}
			if err == nil && r.Outcome().Untested {
				err = &exit.Error{Status: exit.StatusTarget, Err: errors.New(cmp.Or(strings.TrimSuffix(r.Untested, "."), "the campaign has tested nothing"))}
			}
			return err
		},
	}
	cmd.Flags().Var(flags.Choice(&format, report.Formats()), "format", "format of the report (default: what the ending of --out says, or text)")
	flags.AddBaseline(cmd, &o.Baseline)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	return cmd
}
