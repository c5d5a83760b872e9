package mcp

import "github.com/teaselfuzz/teasel/mutate"

// outcome is what an answer comes to.
type outcome uint8

const (
	outcomeNone   outcome = iota // no answer
	outcomeResult                // it was carried out
	outcomeFailed                // a result that says that it failed
	outcomeError                 // an error
)

func (o outcome) String() string {
	return [...]string{"not answered", "carried out", "answered with a failure", "answered with an error"}[o]
}

func outcomeOf(r *Received) outcome {
	switch {
	case r == nil:
		return outcomeNone
	case r.Message.Error != nil:
		return outcomeError
	case isToolError(r.Message.Result):
		return outcomeFailed
	case r.Message.Result != nil:
		return outcomeResult
	}
	return outcomeNone
}

// isToolError reports whether a result says that the tool failed.
func isToolError(result *mutate.JSON) bool {
	v := result.Get("isError")
	return v != nil && v.Kind == mutate.Bool && v.Text == "true"
}
