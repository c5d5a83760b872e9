package program

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/blocks"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// panel shows which functions and source files of a native program were reached. The program is read when somebody looks.
type panel struct {
	path  string // of the program
	build string // that the campaign is about
	edges int

	once   sync.Once
	blocks []blocks.Block
	why    string // there are no blocks
}

var _ view.Liner = (*panel)(nil)

// panels returns the panels of a campaign of an instrumented program.
func panels(m *corpus.Meta, _ string) view.Paneler {
	var t Target
	if m.Edges == 0 || campaign.ReadTarget(m.Target, &t) != nil || len(t.Command) == 0 {
		return nil
	}
	path := t.Command[0]
	if !filepath.IsAbs(path) && strings.ContainsRune(path, filepath.Separator) && t.Dir != "" {
		path = filepath.Join(t.Dir, path)
	}
	return &panel{path: path, build: m.Build, edges: m.Edges}
}

func (p *panel) read() {
	path, err := exec.LookPath(p.path)
	var program []byte
	if err == nil {
		program, err = os.ReadFile(path)
	}
	if err == nil {
		if sum := sha256.Sum256(program); hex.EncodeToString(sum[:]) != p.build {
			p.why = "the program has been built anew since"
			return
		}
		p.blocks, err = blocks.Clang(path)
	}
	switch {
	case err != nil:
		p.why = err.Error()
	case len(p.blocks) != p.edges: // those of shared libraries are among them, in an order that only the linker knows
		p.why, p.blocks = "its shared libraries have counters of their own, so that it is not known which counter belongs to which", nil
	}
}

func (p *panel) code(entries []teasel.Entry) []view.Code {
	p.once.Do(p.read)
	reached := corpus.EdgeSet{}
	for i := range entries {
		reached.Add(entries[i].Features)
	}
	return []view.Code{{Blocks: p.blocks, Reached: reached, Hidden: isSystemHeader}}
}

func isSystemHeader(file string) bool { return strings.HasPrefix(file, "/usr/") }

// Panels implements [view.Paneler].
func (p *panel) Panels(entries []teasel.Entry) []view.Panel {
	code := p.code(entries)
	if p.why != "" {
		return []view.Panel{{Title: "Functions reached", Head: []string{"not known"}, Rows: [][]string{{p.why}}}}
	}
	return view.CodePanels(code)
}

// Lines implements [view.Liner].
func (p *panel) Lines(entries []teasel.Entry, file string) (view.Lines, bool) {
	return view.CodeLines(p.code(entries), file)
}

// Files returns the source files that have code, those that testcases reach apart.
func (p *panel) Files(entries []teasel.Entry) (reached, missed []string) {
	return view.CodeFiles(p.code(entries))
}

// coverage counts edges, which only an instrumented program has.
func coverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	if m.Edges == 0 {
		return c
	}
	edges := corpus.EdgeSet{}
	for i := range entries {
		edges.Add(entries[i].Features)
	}
	c.Edges = report.Reach{Reached: len(edges), Total: m.Edges}
	return c
}
