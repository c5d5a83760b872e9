package gen

import (
	"strings"

	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// probes is how many texts a script is tried with at a time.
const probes = 8

// probe says a step of the script again with texts in one of its places that security checks try: those begin with what
// schemas tell, and a script that has got further, with what a server has handed out, gets to where they do not.
func (e *editor) probe() {
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return
	}
	params := root.Get("params")
	within := params.Get("arguments")
	if e.method(i) == "resources/read" {
		within = params
	}
	var places []*mutate.JSON
	for _, v := range e.under(within, isString) {
		if !strings.Contains(v.Text, "@{") {
			places = append(places, v)
		}
	}
	if len(places) == 0 {
		return
	}
	place, prefix := choose(e, places), ""
	if before := place.Text; within == params {
		prefix = before[:strings.LastIndexByte(before, '/')+1]
	}
	kept := *place
	for _, text := range e.attack() {
		if e.full() {
			break
		}
		*place = *mutate.NewString(prefix + text)
		e.add(script.Step{Line: root.Append(nil), NoWait: true})
	}
	*place = kept
}

// attack draws some texts of one kind.
func (e *editor) attack() []string {
	texts := e.b.attacks[e.r.IntN(len(e.b.attacks))]
	if len(texts) <= probes {
		return texts
	}
	from := e.r.IntN(len(texts) - probes + 1)
	return texts[from : from+probes]
}
