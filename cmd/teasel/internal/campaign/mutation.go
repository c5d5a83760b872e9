package campaign

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/policy"
)

// ChooseMutation leaves out the stages that the user has not chosen, and minimising where the user does not want it.
func ChooseMutation[T any](c *teasel.Campaign[T], m *flags.Mutation) (err error) {
	if c.Stages, err = policy.ChooseStages(c.Stages, m.Stages); err != nil {
		return exit.Usage("", "--stages: %w", err)
	}
	if m.NoMinimize {
		c.MinimizeRuns = -1
	}
	return nil
}
