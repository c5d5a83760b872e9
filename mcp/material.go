package mcp

// material is what scripts are made of: what a server offers, and what was found in it once and for all. All copies of a
// mutator share it, and nobody changes it.
type material struct {
	*repertoire
	chains  []chain    // of tools that seem to belong together
	sinks   []sink     // what answers can be put into
	attacks [][]string // texts that security checks try, by kind
}

func newMaterial(b *repertoire) *material {
	return &material{
		repertoire: b,
		chains:     guessChains(b.tools),
		sinks:      findSinks(b.tools),
		attacks:    [][]string{disguises, injections, quoteTexts(), b.placeholders, pollutions},
	}
}
