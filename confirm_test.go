package teasel_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// watchedTarget notes the longest script that was run.
type watchedTarget struct {
	windowTarget
	longest *int
}

func (t watchedTarget) Open(context.Context) (teasel.Executor[script], error) {
	e := &watchedExecutor{windowExecutor{t: t.windowTarget}, t.longest}
	e.start()
	return e, nil
}

type watchedExecutor struct {
	windowExecutor
	longest *int
}

func (e *watchedExecutor) Exec(ctx context.Context, in script, o *teasel.Observation) error {
	*e.longest = max(*e.longest, len(in))
	return e.windowExecutor.Exec(ctx, in, o)
}

// A finding in which history has no part is not tried together with it.
func TestAloneIsNotJoined(t *testing.T) {
	const mutatorsMost = 4
	for _, alone := range []bool{false, true} {
		longest, starts := 0, 0
		runWindow(t, []string{"list", "echo"}, false, func(c *teasel.Campaign[script]) {
			c.Target = watchedTarget{windowTarget{starts: &starts}, &longest}
			c.NewDetectors = func() []teasel.Detector {
				n := 0 // seen now and then, and never shown again
				return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding {
					if n++; n%500 != 0 {
						return nil
					}
					return []teasel.Finding{{Rule: "rare", Severity: teasel.Low, Alone: alone}}
				})}
			}
			c.Runs = 5_000
		})
		if joined := longest > mutatorsMost; joined == alone {
			t.Errorf("alone %v: the longest script had %d calls", alone, longest)
		}
	}
}
