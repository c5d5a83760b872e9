package agent

import (
	"encoding/json"
	"os"
	"strings"
)

// Description is what a fuzz test says of itself.
type Description struct {
	Types    []string `json:"types"`           // of the arguments of its target
	Seeds    [][]byte `json:"seeds,omitempty"` // those of F.Add, in the format of Go's corpus files
	Nil      []int    `json:"nil,omitempty"`   // which of these have a nil slice, as which the format cannot write it
	Counters int      `json:"counters"`        // of the compiler, in the whole process
	Typed    string   `json:"typed,omitempty"` // the type of the values, if package gofunc describes the test
}

// Describe hands the description to the parent.
func Describe(d Description) error {
	f := os.NewFile(uintptr(process.fds[0]), "description")
	if err := json.NewEncoder(f).Encode(&d); err != nil {
		return err
	}
	return f.Close()
}

// Kinds returns the types as kinds.
func (d *Description) Kinds() []Kind { return ParseKinds(strings.Join(d.Types, ",")) }
