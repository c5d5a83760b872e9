package teasel

import "context"

// SeedEnd is how a seed ended, in a campaign that runs nothing but seeds; see [Campaign.SeedsOnly].
type SeedEnd struct {
	Key      string // the [Key] of its encoded input
	Exit     Exit
	Try      int       // of the executions, at most [Campaign.Tries], the one that showed a finding; 0: none did
	Findings []Finding // that it showed, as the detectors returned them, without detail
}

// unlimitedRuns is a limit that is never reached: runs are counted, so that jobs are brought to their end, and no number ends them.
const unlimitedRuns = 1 << 60

// try notes how seeds ended that have run once, and runs those again that have shown nothing, for they may do so only sometimes.
func (w *Worker[T]) try(ctx context.Context, ins []T, keys []string, obs []Observation) error {
	for n := 1; ; n++ {
		last := n == w.c.tries()
		var again []T
		var names []string
		for i := range obs {
			if o := &obs[i]; o.failed() && len(o.findings) == 0 { // an executor of batches need not report a fault that it knows
				if err := w.alone(ctx, i, ins[i:i+1], obs[i:i+1], o.Ask); err != nil {
					return err
				}
			}
			switch o := &obs[i]; {
			case len(o.findings) > 0:
				w.news.Seeds = append(w.news.Seeds, SeedEnd{Key: keys[i], Exit: o.Exit, Try: n, Findings: withoutDetail(o.findings)})
			case last:
				w.news.Seeds = append(w.news.Seeds, SeedEnd{Key: keys[i], Exit: o.Exit})
			default:
				again, names = append(again, ins[i]), append(names, keys[i])
			}
		}
		if len(again) == 0 {
			return nil
		}
		var err error
		ins, keys = again, names
		if obs, err = w.Probe(ctx, ins, Ask{Quiet: true}); err != nil {
			return err
		}
	}
}

// withoutDetail returns what tells findings apart, which is all that is kept of those that many seeds show.
func withoutDetail(fs []Finding) (out []Finding) {
	for i := range fs {
		f := fs[i]
		f.Detail, f.Describe, f.Input, f.Original = "", nil, nil, nil
		out = append(out, f)
	}
	return out
}
