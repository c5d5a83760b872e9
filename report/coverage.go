package report

// Coverage is how much of the target the testcases of a campaign reach. A field that is zero is not known for the kind of target.
type Coverage struct {
	Edges       Reach `json:"edges,omitzero"`       // of a program or server that is instrumented
	Counters    Reach `json:"counters,omitzero"`    // of the Go compiler, of all fuzz tests
	States      Reach `json:"states,omitzero"`      // of a model
	Transitions Reach `json:"transitions,omitzero"` // of a model, those that it declares
	Tools       Reach `json:"tools,omitzero"`       // of an MCP server, of those that are not blocked or excluded
	Methods     Reach `json:"methods,omitzero"`     // of MCP
}

// Reach is how many of a number of things were reached.
type Reach struct {
	Reached int `json:"reached"`
	Total   int `json:"total,omitzero"` // 0: not known
}
