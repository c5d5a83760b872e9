package observe

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// knownCodes are the codes of errors that [OutcomeFeatures] knows: those of JSON-RPC, the first that it leaves to servers, and none.
var knownCodes = [...]int64{0, -32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32003}

// OutcomeFeatures returns the features that [Fingerprint] gives a script in which a request for a subject, as [session.Subject] names it,
// came to an outcome. Errors with codes that neither JSON-RPC nor MCP defines are not among them: a feature tells texts and codes
// apart, and does not contain them.
func OutcomeFeatures(subject string, o script.Outcome) (fs []teasel.Feature) {
	plain := HashString(Offset64, subject)
	add := func(h uint64) { fs = append(fs, feature(HashNumber(h, featureOutcome))) }
	for _, s := range [...]uint64{plain, HashString(plain, captured)} {
		h := HashNumber(s, uint64(o))
		if o != script.OutcomeError {
			add(h)
			continue
		}
		for _, code := range knownCodes {
			for text := range uint64(fewWords) {
				add(HashNumber(HashNumber(h, uint64(code)), text))
			}
		}
	}
	return fs
}

// captured is part of the feature of a request that uses a value of an earlier answer, so that it differs from that of one that does not.
const captured = "with what was captured"
