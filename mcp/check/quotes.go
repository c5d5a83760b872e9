package check

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

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

// A quote that nobody has closed breaks the query or the command that a text was pasted into; two in a row are one that
// is part of the text for a database, and none at all for a shell. So the three texts of QuoteTries together tell a
// paste from a parser that takes queries, to which all three are wrong, and from a check, to which none is. That a
// database names its own grammar then is what sqlmap and others call error-based detection.

// What databases say of a query that they cannot read, as JSON has it, and what shells say of a quote without an end.
var (
	queryErrors = [][]byte{
		[]byte(`\": syntax error`), []byte("unrecognized token: "), []byte("SQLITE_ERROR"), // SQLite
		[]byte("yntax error at or near"), []byte("unterminated quoted string at"), []byte("unterminated quoted identifier"), // PostgreSQL, DuckDB, Spark
		[]byte("error in your SQL syntax"), []byte("SQL syntax error"), // MySQL, MariaDB
		[]byte("Unclosed quotation mark"), []byte("Incorrect syntax near"), // SQL Server
		[]byte("ORA-009"), []byte("ORA-01756"), []byte("quoted string not properly terminated"), // Oracle
		[]byte("Syntax error in SQL statement"), []byte("SQLSTATE[42"), []byte("SQLSTATE=42"), // H2, PDO, Db2
		[]byte("Syntax error: failed at position"), []byte("Neo.ClientError.Statement"), // ClickHouse, Neo4j
		[]byte("Unclosed string literal"), []byte("SQL compilation error"), // BigQuery, Snowflake
		[]byte("mismatched input"), []byte("token recognition error"), []byte("mismatched character"), // Trino, Cassandra
	}
	shellErrors = [][]byte{
		[]byte("yntax error: Unterminated quoted string"), []byte("yntax error: unterminated quoted string"), // dash, BusyBox
		[]byte("missing the terminator"), // PowerShell
		[]byte("unexpected EOF while looking for matching"), []byte("nmatched '"), []byte(`nmatched \"`),
	}
)

// searchErrors are what SQLite says of the text that somebody searches for, which has a grammar of its own, wherever it was
// put into the query.
var searchErrors = [][]byte{[]byte("unterminated string"), []byte("fts5:"), []byte("malformed MATCH")}

func says(r *script.Received, signs [][]byte) bool {
	for _, sign := range signs {
		if bytes.Contains(r.Raw, sign) {
			return true
		}
	}
	return false
}

// Pasted judges the answer to a text with an open quote beside those to the same call without one and with two.
func (j *Case) Pasted(s *script.Sent, answer *script.Received) {
	if s.Message.Params == nil || !bytes.Contains(s.Raw, []byte(Quoted)) {
		return
	}
	rule, signs, what, purpose := RuleSQLInjection, queryErrors, "a query that a database could not read", session.RunsQuery|session.RunsProgram
	if !says(answer, signs) || says(answer, searchErrors) {
		rule, signs, what, purpose = RuleShellInjection, shellErrors, "a command in which a shell missed a quote", session.RunsProgram
		if !says(answer, signs) {
			return
		}
	}
	if j.isPurpose(s, purpose, Quoted) {
		return
	}
	params := s.Message.Params.String()
	for _, try := range QuoteTries {
		open, closed, none := stringEnd(try.Open), stringEnd(try.Closed), stringEnd(Quoted)
		if !strings.Contains(params, open) {
			continue
		}
		plain, twice := j.answerTo(s, strings.ReplaceAll(params, open, none)), j.answerTo(s, strings.ReplaceAll(params, open, closed))
		if plain != nil && twice != nil && !says(plain, signs) && !says(twice, signs) {
			j.report(rule, j.subject(s), "", fmt.Sprintf("With one quote in an argument the answer to %s tells of %s; without it, and with two, it does not.", jsonrpc.Cut(s.Raw, 200), what))
			return
		}
	}
}

// stringEnd is how a string of JSON ends that ends with the text.
func stringEnd(text string) string { return mutate.NewString(text).String()[1:] }

// answerTo returns the answer to the same method with other parameters; nil: there is none.
func (j *Case) answerTo(s *script.Sent, params string) *script.Received {
	for i := range j.Transcript.Sent {
		other := &j.Transcript.Sent[i]
		if other.Answer >= 0 && other.Message.Method == s.Message.Method && other.Message.Params != nil && other.Message.Params.String() == params {
			return j.answer(other)
		}
	}
	return nil
}
