package report

// Coverage says how much of the target the testcases of a campaign reach, as far as is known for its kind. What is zero is not
// known.
type Coverage struct {
	Edges       Reach `json:"edges,omitzero"`       // of a program or server that is instrumented
	Counters    Reach `json:"counters,omitzero"`    // of the Go compiler, of all fuzz tests
	States      Reach `json:"states,omitzero"`      // of a model
	Transitions Reach `json:"transitions,omitzero"` // of a model, those that it declares
	Tools       Reach `json:"tools,omitzero"`       // of an MCP server, of those that are not blocked or excluded
	Methods     Reach `json:"methods,omitzero"`     // of MCP
}

// Reach is how many of some things were reached.
type Reach struct {
	Reached int `json:"reached"`
	Total   int `json:"total,omitzero"` // 0: not known
}
