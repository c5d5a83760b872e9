package main

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// store is what the tools keep. All of it is bounded: a client that calls for hours must not see the server grow.
type store struct {
	title     string
	notes     []string
	documents map[string]*document
	order     []string // handles, oldest first
	opened    int      // documents ever opened
	counter   int
}

type document struct {
	name   string
	size   int // characters
	closed bool
	done   chan struct{} // closed with the document; made by the bug that closes it twice
}

const (
	noteLimit     = 100
	documentLimit = 64
	sizeLimit     = 1_000_000
	counterLimit  = 1_000_000
)

func newStore() store {
	return store{title: "Warehouse", documents: map[string]*document{}}
}

// insertNote puts a note at an index, -1 or too large for the end, and returns where it is. The oldest end goes when there are too many.
func (st *store) insertNote(index int, note string) int {
	if len(st.notes) == noteLimit {
		st.notes = slices.Delete(st.notes, 0, 1)
	}
	if index < 0 || index > len(st.notes) {
		index = len(st.notes)
	}
	st.notes = slices.Insert(st.notes, index, note)
	return index
}

// open returns the handle of a new document: nothing that can be guessed, but the same in every run.
func (st *store) open(name string) string {
	if len(st.order) == documentLimit {
		delete(st.documents, st.order[0])
		st.order = slices.Delete(st.order, 0, 1)
	}
	st.opened++
	h := fnv.New64a()
	fmt.Fprintf(h, "document %d", st.opened)
	handle := fmt.Sprintf("doc-%016x", h.Sum64())
	st.documents[handle] = &document{name: name}
	st.order = append(st.order, handle)
	return handle
}

// files are what the server has below its root.
var files = map[string]string{
	"readme.md":      "# Warehouse\n\nEverything has its place.\n",
	"guide/intro.md": "# Introduction\n\nBolts are left, nuts are right.\n",
	"guide/tools.md": "# Tools\n\nAsk before you take the ladder.\n",
	"data/stock.csv": "sku,pieces\nbolt-m4,30\nnut-m4,40\n",
}
