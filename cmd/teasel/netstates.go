package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto"
)

// netStates says how many edges of the server were reached, and draws the states that the model of a campaign declares and what
// of them was reached.
func netStates(w io.Writer, raw json.RawMessage, entries []teasel.Entry) error {
	var nt netTarget
	if err := described(raw, &nt); err != nil {
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
	if err != nil || len(target.Model.States) == 0 { // the model is no longer there: the rest is still worth showing
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
	return failure(t.Flush())
}

func reachText(times int) string {
	if times == 0 {
		return "never"
	}
	return fmt.Sprint(times)
}
