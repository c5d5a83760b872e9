package gotest

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/blocks"
	"github.com/teaselfuzz/teasel/view"
)

// codePanel shows which functions and source files fuzz tests reach, of the modules that are tested and those that they use. Test binaries
// are read when somebody looks.
type codePanel struct {
	root string // of the toolchain, whose standard library is not shown

	mu       sync.Mutex
	programs []*testProgram
}

// testProgram is a test binary.
type testProgram struct {
	path     string
	counters int
	reached  corpus.EdgeSet                 // by all tests in it
	read     func() ([]blocks.Block, error) // once; it takes a while
}

var _ view.Liner = (*codePanel)(nil)

// reporter returns what notes what a test reaches, beginning with the testcases that it has.
func (c *codePanel) reporter(t *fuzzTest) teasel.Reporter {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := t.target.Binary
	i := slices.IndexFunc(c.programs, func(p *testProgram) bool { return p.path == path })
	if i < 0 {
		i = len(c.programs)
		c.programs = append(c.programs, &testProgram{path: path, counters: t.target.Counters, reached: corpus.EdgeSet{},
			read: sync.OnceValues(func() ([]blocks.Block, error) { return blocks.Go(path) })})
	}
	return &codeReporter{c, c.programs[i]}
}

// codeReporter adds what the testcases of one test reach.
type codeReporter struct {
	c *codePanel
	p *testProgram
}

// Report implements [teasel.Reporter].
func (r *codeReporter) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded {
		r.c.mu.Lock()
		defer r.c.mu.Unlock()
		r.p.reached.Add(e.Entry.Features)
	}
	return nil
}

// code returns what was reached, in a copy. The programs are read without the lock, for which campaigns would wait.
func (c *codePanel) code() (all []view.Code, why []string) {
	c.mu.Lock()
	programs := slices.Clone(c.programs)
	c.mu.Unlock()
	for _, p := range programs {
		known, err := p.read()
		if err != nil {
			why = append(why, filepath.Base(p.path)+": "+err.Error())
		}
		all = append(all, view.Code{Blocks: known, Reached: c.reachedIn(p), Hidden: c.hidden})
	}
	return all, why
}

// reachedIn returns a copy of what was reached in a program.
func (c *codePanel) reachedIn(p *testProgram) corpus.EdgeSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := corpus.EdgeSet{}
	for f := range p.reached {
		if f < teasel.Feature(p.counters) { // higher numbers are states that a test observes
			reached[f] = struct{}{}
		}
	}
	return reached
}

// hidden reports whether a file is of the standard library, or what the go command has made.
func (c *codePanel) hidden(file string) bool {
	return strings.HasPrefix(file, c.root+"/") || !filepath.IsAbs(file) || strings.HasPrefix(filepath.Base(file), "_testmain")
}

// Panels implements [view.Paneler].
func (c *codePanel) Panels([]teasel.Entry) []view.Panel {
	all, why := c.code()
	panels := view.CodePanels(all)
	if len(why) > 0 {
		p := view.Panel{Title: "Unread test binaries", Head: []string{"test binary"}}
		for _, w := range why {
			p.Rows = append(p.Rows, []string{w})
		}
		panels = append(panels, p)
	}
	return panels
}

// Lines implements [view.Liner].
func (c *codePanel) Lines(_ []teasel.Entry, file string) (view.Lines, bool) {
	all, _ := c.code()
	return view.CodeLines(all, file)
}

// Files returns the source files that have code, those that testcases reach apart.
func (c *codePanel) Files([]teasel.Entry) (reached, missed []string) {
	all, _ := c.code()
	return view.CodeFiles(all)
}

// filesOf returns the source files of the binary of a fuzz test, those with code that testcases of this test reach apart.
func (c *codePanel) filesOf(t *fuzzTest, entries []teasel.Entry) (reached, missed []string) {
	known := c.blocksOf(t)
	if known == nil {
		return nil, nil
	}
	return view.CodeFiles([]view.Code{{Blocks: known, Reached: countersOf(t, entries), Hidden: c.hidden}})
}

// blocksOf returns where the counters of the binary of a fuzz test are; nil: it is not known.
func (c *codePanel) blocksOf(t *fuzzTest) []blocks.Block {
	c.mu.Lock()
	i := slices.IndexFunc(c.programs, func(p *testProgram) bool { return p.path == t.target.Binary })
	c.mu.Unlock()
	if i < 0 {
		return nil
	}
	known, err := c.programs[i].read()
	if err != nil {
		return nil
	}
	return known
}
