package main

import (
	"path/filepath"

	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

func newDictionary() *mutate.Dictionary { return &mutate.Dictionary{} }

// netMutator changes dialogues of a protocol.
func netMutator(m *model.Model, d *mutate.Dictionary) *dialogue.Mutator {
	return &dialogue.Mutator{Model: m, Dictionary: d}
}

// absolutePath is where a file is, whatever folder a finding is reproduced from.
func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
