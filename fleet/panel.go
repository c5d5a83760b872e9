package fleet

import (
	"fmt"
	"strconv"
	"time"

	"github.com/teaselfuzz/teasel/view"
)

// Panel returns the table of a fleet's machines: what each does, when the hub heard it last, and its share of what the fleet has found.
func Panel(ms []Machine) view.Panel {
	p := view.Panel{Title: "Machines", Head: []string{"machine", "state", "last word", "executions", "per second", "corpus", "features", "findings", "sent", "share", "taken", "unsent"}}
	all := 0
	for _, m := range ms {
		all += m.Sent
	}
	for _, m := range ms {
		state := map[State]string{Running: "running", Paused: "paused", Stopped: "stopping"}[m.State]
		switch {
		case m.Gone:
			state = "gone"
		case m.Ended != "":
			state = "ended: " + m.Ended
		}
		share := "-"
		if all > 0 {
			share = fmt.Sprintf("%.0f%%", 100*float64(m.Sent)/float64(all))
		}
		p.Rows = append(p.Rows, []string{m.Name, state, m.Age.Round(time.Second).String() + " ago", strconv.FormatUint(m.Executions, 10), fmt.Sprintf("%.0f", m.Rate),
			strconv.Itoa(m.Corpus), strconv.Itoa(m.Features), strconv.Itoa(m.Findings), strconv.Itoa(m.Sent), share, strconv.Itoa(m.Taken), strconv.Itoa(m.Waiting)})
	}
	return p
}
