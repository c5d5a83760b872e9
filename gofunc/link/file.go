package link

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// header is the first line of a file of Go's corpus.
const header = "go test fuzz v1"

// File returns the file of Go's corpus with which plain go test runs an encoded input of a typed test. The input is written
// as it is, without escapes, where Go's syntax allows it.
func File(input []byte) []byte {
	text := string(input)
	quoted := strconv.Quote(text)
	if strconv.CanBackquote(text) {
		quoted = "`" + text + "`"
	}
	return fmt.Appendf(nil, "%s\nstring(%s)\n", header, quoted)
}

// Input returns the encoded input in a file of Go's corpus. What does not begin as such a file is the input itself.
func Input(file []byte) ([]byte, error) {
	first, rest, _ := strings.Cut(string(file), "\n")
	if strings.TrimSpace(first) != header {
		return file, nil
	}
	value, ok := strings.CutPrefix(strings.TrimSpace(rest), "string(")
	value, closed := strings.CutSuffix(value, ")")
	if !ok || !closed {
		return nil, errors.New("line 2 is no string(\"…\")")
	}
	s, err := strconv.Unquote(strings.TrimSpace(value))
	if err != nil {
		return nil, fmt.Errorf("line 2: %w", err)
	}
	return []byte(s), nil
}
