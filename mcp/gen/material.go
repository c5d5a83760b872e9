package gen

import (
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// material is what scripts are made of: what a server offers, and what was found in it once and for all. All copies of a
// mutator share it, and nobody changes it.
type material struct {
	*session.Catalog
	chains     []chain     // of tools that seem to belong together
	parameters []parameter // what answers can be put into
	attacks    [][]string  // texts that security checks try, by kind
}

func newMaterial(b *session.Catalog) *material {
	return &material{
		Catalog:    b,
		chains:     guessChains(b.Tools),
		parameters: findParameters(b.Tools),
		attacks:    [][]string{check.Disguises, check.Injections, check.QuoteTexts(), b.FormatTexts, check.Pollutions},
	}
}
