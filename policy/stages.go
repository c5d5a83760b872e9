package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// stageNames are the names under which stages are chosen that are not their own. Those that use what the target compares are chosen
// together.
var stageNames = map[string]string{"gradient": "operands", "repair": "operands", "tokens": "operands", "solve": "operands"}

// StageName returns the name under which a stage is chosen.
func StageName[T any](s teasel.Stage[T]) string {
	if name := stageNames[s.Name()]; name != "" {
		return name
	}
	return s.Name()
}

// ChooseStages returns those stages that are named, in their order: operands for what uses the
// comparisons of the target, and otherwise the stages' own names, such as deterministic, havoc and splice. Without names it returns all. An unknown
// name is an error, which lists the known ones.
func ChooseStages[T any](stages []teasel.Stage[T], names []string) (chosen []teasel.Stage[T], err error) {
	if len(names) == 0 {
		return stages, nil
	}
	var known []string
	for _, s := range stages {
		name := StageName(s)
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
		if slices.Contains(names, name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no stage %q: expected %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}
