package check

// Quoted is the text without a quote: a number, so that it is sound outside of quotes as well.
const Quoted = "7349"

// QuoteTries are pairs of texts that end with one quote, which nothing closes, and with two.
var QuoteTries = [...]struct{ Open, Closed string }{{Quoted + "'", Quoted + "''"}, {Quoted + `"`, Quoted + `""`}}

// QuoteTexts are all texts that one place is tried with.
func QuoteTexts() []string {
	texts := []string{Quoted}
	for _, try := range QuoteTries {
		texts = append(texts, try.Open, try.Closed)
	}
	return texts
}
