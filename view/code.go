package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/blocks"
)

// Block is where in the source a counter of a program is.
type Block = blocks.Block

// Code is what testcases reach of a program: a [Block] for each counter, and the counters that were reached.
type Code struct {
	Blocks  []Block
	Reached corpus.EdgeSet
	Hidden  func(file string) bool // files that are not the user's; nil: all are
}

// mostRows is how many rows a table of code has.
const mostRows = 300

// tally counts the blocks and functions of something.
type tally struct {
	name, file             string
	line                   int
	blocks, blocksReached  int
	functions, funcReached int
}

func (t *tally) missed() int { return t.blocks - t.blocksReached }

// tallies counts by function and by file. Of a function that several programs have, the one with more counts.
func tallies(programs []Code) (functions, files []tally) {
	all := map[[2]string]tally{}
	for _, p := range programs {
		these := map[[2]string]tally{}
		for i, b := range p.Blocks {
			if b.Function == "" || p.Hidden != nil && p.Hidden(b.File) {
				continue
			}
			key := [2]string{b.Function, b.File}
			t, known := these[key]
			if !known || b.Line < t.line {
				t.name, t.file, t.line = b.Function, b.File, b.Line
			}
			t.blocks++
			if _, ok := p.Reached[teasel.Feature(i)]; ok {
				t.blocksReached++
			}
			these[key] = t
		}
		for key, t := range these {
			if before, ok := all[key]; !ok || t.blocksReached > before.blocksReached {
				all[key] = t
			}
		}
	}
	byFile := map[string]tally{}
	for _, t := range all {
		functions = append(functions, t)
		f := byFile[t.file]
		f.name, f.file = cmp.Or(t.file, "(no debug information)"), t.file
		f.blocks += t.blocks
		f.blocksReached += t.blocksReached
		f.functions++
		if t.blocksReached > 0 {
			f.funcReached++
		}
		byFile[t.file] = f
	}
	files = slices.Collect(maps.Values(byFile))
	for _, list := range [][]tally{functions, files} { // what was entered and has most left comes first
		slices.SortFunc(list, func(a, b tally) int {
			return cmp.Or(-cmp.Compare(min(a.blocksReached, 1), min(b.blocksReached, 1)), cmp.Compare(b.missed(), a.missed()), strings.Compare(a.name, b.name), strings.Compare(a.file, b.file))
		})
	}
	return functions, files
}

// CodePanels returns the tables of functions and source files, of one program or of several.
func CodePanels(programs []Code) []Panel {
	functions, files := tallies(programs)
	if len(functions) == 0 {
		return nil
	}
	common := commonFolder(files)
	short := func(file string) string { return strings.TrimPrefix(file, common) }
	a := Panel{Title: "Functions reached", Head: []string{"function", "at", "blocks reached", "of"}}
	for _, t := range functions[:min(len(functions), mostRows)] {
		at := ""
		if t.file != "" {
			at = fmt.Sprint(short(t.file), ":", t.line)
		}
		a.Rows, a.Files = append(a.Rows, []string{t.name, at, Times(t.blocksReached), fmt.Sprint(t.blocks)}), append(a.Files, t.file)
	}
	b := Panel{Title: "Source files reached", Head: []string{"file", "functions reached", "of", "blocks reached", "of"}}
	for _, t := range files[:min(len(files), mostRows)] {
		b.Rows = append(b.Rows, []string{short(t.name), Times(t.funcReached), fmt.Sprint(t.functions), Times(t.blocksReached), fmt.Sprint(t.blocks)})
		b.Files = append(b.Files, t.file)
	}
	for _, more := range []struct {
		p *Panel
		n int
	}{{&a, len(functions)}, {&b, len(files)}} {
		if more.n > mostRows {
			more.p.Rows = append(more.p.Rows, []string{fmt.Sprintf("and %d more", more.n-mostRows)})
		}
	}
	return []Panel{a, b}
}

// commonFolder returns the folder that all files are in, with a slash at the end.
func commonFolder(files []tally) string {
	common, first := "", true
	for _, f := range files {
		switch folder := f.file[:strings.LastIndexByte(f.file, '/')+1]; {
		case f.file == "":
		case first:
			common, first = folder, false
		default:
			for !strings.HasPrefix(folder, common) {
				common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
			}
		}
	}
	return common
}

// Lines are the lines of a source file at which a block begins.
type Lines struct {
	Reached []int `json:"reached"` // in order; where several blocks begin, one of them at least
	Missed  []int `json:"missed"`
}

// CodeLines returns the lines of a source file that has blocks.
func CodeLines(programs []Code, file string) (ls Lines, ok bool) {
	at := map[int]bool{}
	for _, p := range programs {
		for i, b := range p.Blocks {
			if b.File == file && file != "" && (p.Hidden == nil || !p.Hidden(file)) {
				_, reached := p.Reached[teasel.Feature(i)]
				at[b.Line] = at[b.Line] || reached
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(at)) {
		if at[n] {
			ls.Reached = append(ls.Reached, n)
		} else {
			ls.Missed = append(ls.Missed, n)
		}
	}
	return ls, len(at) > 0
}

// CodeFiles returns the source files that have blocks, sorted: those with a block that was reached, and the others.
func CodeFiles(programs []Code) (reached, missed []string) {
	files := map[string]bool{}
	for _, p := range programs {
		for i, b := range p.Blocks {
			if b.File != "" && (p.Hidden == nil || !p.Hidden(b.File)) {
				_, ok := p.Reached[teasel.Feature(i)]
				files[b.File] = files[b.File] || ok
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if files[file] {
			reached = append(reached, file)
		} else {
			missed = append(missed, file)
		}
	}
	return reached, missed
}
