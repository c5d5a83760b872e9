package script

import "github.com/teaselfuzz/teasel/mutate"

// Outcome is what an answer comes to.
type Outcome uint8

const (
	OutcomeNone   Outcome = iota // no answer
	OutcomeResult                // it was carried out
	OutcomeFailed                // a result that says that it failed
	OutcomeError                 // an error
)

// String returns the outcome as the end of a sentence about a request.
func (o Outcome) String() string {
	return [...]string{"not answered", "carried out", "answered with a failure", "answered with an error"}[o]
}

// OutcomeOf returns what an answer comes to; nil is none.
func OutcomeOf(r *Received) Outcome {
	switch {
	case r == nil:
		return OutcomeNone
	case r.Message.Error != nil:
		return OutcomeError
	case IsToolError(r.Message.Result):
		return OutcomeFailed
	case r.Message.Result != nil:
		return OutcomeResult
	}
	return OutcomeNone
}

// IsToolError reports whether a result says that the tool failed.
func IsToolError(result *mutate.JSON) bool {
	v := result.Get("isError")
	return v != nil && v.Kind == mutate.Bool && v.Text == "true"
}
