package mcp

// quoted is the text without a quote: a number, so that it is sound outside of quotes as well.
const quoted = "7349"

var quoteTries = [...]struct{ open, closed string }{{quoted + "'", quoted + "''"}, {quoted + `"`, quoted + `""`}}

// quoteTexts are all texts that one place is tried with.
func quoteTexts() []string {
	texts := []string{quoted}
	for _, try := range quoteTries {
		texts = append(texts, try.open, try.closed)
	}
	return texts
}
