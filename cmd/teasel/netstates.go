package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/netproto"
)

// netStates prints how many edges of the server were reached, and the states and transitions of the model with how many testcases
// reach them.
func netStates(w io.Writer, raw json.RawMessage, entries []teasel.Entry) error {
	var nt netTarget
	if err := campaign.ReadTarget(raw, &nt); err != nil {
		return err
	}
	var reached []teasel.FeatureSet
	for i := range entries {
		reached = append(reached, entries[i].Features)
	}
	if edges := netproto.Edges(reached); edges > 0 {
		fmt.Fprintf(w, "edges reached    %d\n", edges)
	}
	if nt.Model == "" {
		return nil
	}
	target, err := nt.target()
	if err != nil || len(target.Model.States) == 0 { // without the model, the rest of the campaign can still be shown
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nstates\t\ttestcases\n")
	for _, s := range netproto.States(target.Model, reached) {
		fmt.Fprintf(t, "%s\t\t%s\n", s.Name, reachText(s.Times))
		for _, step := range s.Steps {
			to := "-> " + step.To
			if step.To == s.Name {
				to = "(stays)"
			}
			if !step.Declared {
				to += ", not in the model"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\n", step.Message, to, reachText(step.Times))
		}
	}
	return exit.Failure(t.Flush())
}

func reachText(times int) string {
	if times == 0 {
		return "never"
	}
	return fmt.Sprint(times)
}
