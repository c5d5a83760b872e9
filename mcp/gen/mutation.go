package gen

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mutate"
)

// Mutation is one way to change a script.
type Mutation uint8

// The mutations. The first nineteen are those that mcplint names; the others stand below,
// above and beside those.
const (
	MutationInvalid    Mutation = iota
	TypeConfusion               // a value becomes one of another type
	BoundaryValues              // a value becomes the least, the greatest, the empty, ... of its type
	DeepNesting                 // a value is wrapped into many arrays or objects
	UnicodeInjection            // characters that are hard to see, compare or decode go into a string
	StringMutation              // a string is changed like bytes, or gets a word of the dictionary
	InvalidID                   // the id goes missing, changes its type, is somebody else's
	MalformedVersion            // jsonrpc is not "2.0"
	UnknownMethod               // a method that there is not
	MissingFields               // a member goes missing
	ExtraFields                 // a member that nobody expects, or one twice
	ToolNotFound                // a call of a tool that there is not
	SchemaViolation             // arguments break the tool's input schema
	SequenceViolation           // messages out of order, twice, not at all
	ResourceExhaustion          // a text, an array or an object grows beyond reason
	CapabilityMismatch          // something that was not agreed upon
	InvalidPagination           // a cursor that the server did not give
	RapidFire                   // many requests without waiting
	ConnectionDrop              // the connection ends in the middle; needs a process of its own
	PartialMessage              // a message in parts, or a part of one
	LineHavoc                   // the bytes of a line are changed
	FreshArguments              // arguments are drawn anew, or some of them, and conform to the schema
	Rearrangement               // values change places
	RequestHead                 // over HTTP, the head of a request is changed
	mutationCount
)

// Family says on what a mutation works.
type Family uint8

// The families of mutations.
const (
	FamilyInvalid Family = iota
	FamilyJSON           // values
	FamilyRPC            // the envelope
	FamilyMCP            // what the protocol is about
	FamilyStress         // when and how lines are sent
	FamilyLine           // the bytes of a line
	FamilyHTTP           // the head of a request
)

var familyNames = [...]string{"invalid", "json", "json-rpc", "mcp", "stress", "line", "http"}

// String returns the family's name.
func (f Family) String() string {
	if int(f) < len(familyNames) {
		return familyNames[f]
	}
	return fmt.Sprintf("family(%d)", uint8(f))
}

// mutations has them in the order of their numbers. Weights are for ordinary tests of ordinary servers: handlers are
// reached through arguments, while an envelope that is wrong never gets far, and on some servers ends the session.
var mutations = [mutationCount]struct {
	name   string
	family Family
	weight int
	apply  func(e *editor) bool
}{
	MutationInvalid:    {name: "invalid"},
	TypeConfusion:      {"type-confusion", FamilyJSON, 80, confuseType},
	BoundaryValues:     {"boundary-values", FamilyJSON, 160, setBoundary},
	DeepNesting:        {"deep-nesting", FamilyJSON, 6, nestDeeply},
	UnicodeInjection:   {"unicode-injection", FamilyJSON, 60, injectUnicode},
	StringMutation:     {"string-mutation", FamilyJSON, 180, changeString},
	InvalidID:          {"invalid-id", FamilyRPC, 4, breakID},
	MalformedVersion:   {"malformed-version", FamilyRPC, 1, breakVersion},
	UnknownMethod:      {"unknown-method", FamilyRPC, 6, breakMethod},
	MissingFields:      {"missing-fields", FamilyRPC, 40, dropMember},
	ExtraFields:        {"extra-fields", FamilyRPC, 30, addMember},
	ToolNotFound:       {"tool-not-found", FamilyMCP, 8, renameTool},
	SchemaViolation:    {"schema-violation", FamilyMCP, 90, violateSchema},
	SequenceViolation:  {"sequence-violation", FamilyMCP, 40, reorder},
	ResourceExhaustion: {"resource-exhaustion", FamilyMCP, 2, exhaust},
	CapabilityMismatch: {"capability-mismatch", FamilyMCP, 6, mismatch},
	InvalidPagination:  {"invalid-pagination", FamilyMCP, 8, breakCursor},
	RapidFire:          {"rapid-fire", FamilyStress, 4, fireRapidly},
	ConnectionDrop:     {"connection-drop", FamilyStress, 1, dropConnection},
	PartialMessage:     {"partial-message", FamilyStress, 2, sendPartly},
	LineHavoc:          {"line-havoc", FamilyLine, 3, changeLine},
	FreshArguments:     {"fresh-arguments", FamilyMCP, 120, redrawArguments},
	Rearrangement:      {"rearrangement", FamilyJSON, 20, rearrange},
	RequestHead:        {"request-head", FamilyHTTP, 8, changeHead},
}

// String returns the mutation's name.
func (m Mutation) String() string {
	if m < mutationCount {
		return mutations[m].name
	}
	return fmt.Sprintf("mutation(%d)", uint8(m))
}

// Family returns what the mutation works on.
func (m Mutation) Family() Family {
	if m < mutationCount {
		return mutations[m].family
	}
	return FamilyInvalid
}

// Weight returns how likely the mutation is in the standard profile, against the weights of the others.
func (m Mutation) Weight() int {
	if m < mutationCount {
		return mutations[m].weight
	}
	return 0
}

// ParseMutation reads what [Mutation.String] writes.
func ParseMutation(name string) (Mutation, error) {
	for m := MutationInvalid + 1; m < mutationCount; m++ {
		if mutations[m].name == name {
			return m, nil
		}
	}
	return MutationInvalid, fmt.Errorf("no such mutation %q, expected one such as %q", name, TypeConfusion)
}

// Mutations returns all mutations in their order.
func Mutations() []Mutation {
	all := make([]Mutation, 0, mutationCount-1)
	for m := MutationInvalid + 1; m < mutationCount; m++ {
		all = append(all, m)
	}
	return all
}

// needsProcess reports whether what the mutation makes cannot run in a session that others use.
func (m Mutation) needsProcess() bool { return m == ConnectionDrop }

// wheel draws mutations by weight.
type wheel struct {
	sums  []int // rising
	kinds []Mutation
}

func newWheel(weights map[Mutation]int, http bool) wheel {
	var w wheel
	sum := 0
	for _, m := range Mutations() {
		if weight := weightOf(weights, m); weight > 0 && !m.needsProcess() && (http || m.Family() != FamilyHTTP) {
			sum += weight
			w.sums, w.kinds = append(w.sums, sum), append(w.kinds, m)
		}
	}
	return w
}

// weightOf returns the weight that a profile gives a mutation, its own if the profile says nothing.
func weightOf(weights map[Mutation]int, m Mutation) int {
	if weight, named := weights[m]; named {
		return weight
	}
	return m.Weight()
}

func (w *wheel) spin(e *editor) Mutation {
	if len(w.sums) == 0 {
		return LineHavoc
	}
	n := e.r.IntN(w.sums[len(w.sums)-1])
	for i, sum := range w.sums {
		if n < sum {
			return w.kinds[i]
		}
	}
	return LineHavoc
}

// word draws a text that may mean something to the server.
func (e *editor) word() string {
	switch n := e.r.IntN(16); {
	case n < 7 && len(e.b.Words) > 0:
		return choose(e, e.b.Words)
	case n == 7:
		return choose(e, check.Disguises)
	case n == 8:
		return choose(e, check.Injections)
	case n == 9:
		return choose(e, check.OwnedNames)
	}
	if token := e.b.Dictionary.Token(e.r); token != "" {
		return token
	}
	return choose(e, check.OwnedNames)
}

// odd draws a character that is hard to see, compare or decode.
func (e *editor) odd() string {
	if token := e.b.Dictionary.TokenOf(e.r, mutate.Unicode); token != "" {
		return token
	}
	return "\u202e"
}

// choose draws one of a list.
func choose[T any](e *editor, list []T) T { return list[e.r.IntN(len(list))] }

// wordFor draws a text for an argument of that name: often one that the server mentions.
func (e *editor) wordFor(name string) string {
	if known := e.b.Observed[name]; len(known) > 0 && e.r.IntN(2) == 0 {
		return choose(e, known)
	}
	return e.word()
}
