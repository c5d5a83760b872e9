package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// header is the first line of a file of Go's corpus.
const header = "go test fuzz v1"

// Seed returns what a file in testdata/fuzz has to hold for plain go test to run an encoded input of a typed test.
func Seed(data []byte) []byte { return fmt.Appendf(nil, "%s\nstring(%q)\n", header, data) }

// Saved returns the encoded inputs in a directory of Go's corpus, such as testdata/fuzz/FuzzX, in the order of the files'
// names; none if there is no such directory. What cannot be read is left out, and said in the error.
func Saved(dir string) (inputs [][]byte, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading saved inputs: %w", err)
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		data, e := os.ReadFile(name)
		if e == nil {
			data, e = parse(string(data))
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("reading %s: %w", name, e))
			continue
		}
		inputs = append(inputs, data)
	}
	return inputs, err
}

func parse(text string) ([]byte, error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(first) != header {
		return nil, fmt.Errorf("line 1 is not %q", header)
	}
	value, ok := strings.CutPrefix(strings.TrimSpace(rest), "string(")
	value, closed := strings.CutSuffix(value, ")")
	if !ok || !closed {
		return nil, errors.New("line 2 is no string(\"…\")")
	}
	s, err := strconv.Unquote(value)
	if err != nil {
		return nil, fmt.Errorf("line 2: %w", err)
	}
	return []byte(s), nil
}
