package cov

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// covExport is the part that is used of what llvm-cov export writes.
type covExport struct {
	Data []struct {
		Files []struct {
			Filename string
			Summary  covSummary
		}
		Functions []struct {
			Name      string
			Count     uint64
			Filenames []string
			Regions   [][]uint64 // first line, column, last line, column, count, file, expanded file, kind
		}
		Totals covSummary
	}
}

type covSummary struct{ Lines, Functions covCount }

type covCount struct{ Count, Covered int }

func (c covCount) String() string {
	if c.Count == 0 {
		return "0/0\t-"
	}
	return fmt.Sprintf("%d/%d\t%.1f%%", c.Covered, c.Count, 100*float64(c.Covered)/float64(c.Count))
}

// covFunction is a row of the table of functions. Instances of one template are one function.
type covFunction struct {
	name, file       string
	line             uint64
	reached, regions int
}

func (f *covFunction) share() float64 { return float64(f.reached) / float64(max(f.regions, 1)) }

// tables writes what was reached as text: files, then functions, those never reached first.
func (c *coverage) tables(text []byte, w io.Writer) error {
	var e covExport
	if err := json.Unmarshal(text, &e); err != nil || len(e.Data) == 0 {
		return &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("reading what llvm-cov says: %w", err)}
	}
	d := e.Data[0]
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lines\t\tfunctions\t\t  file")
	for _, f := range d.Files {
		fmt.Fprintf(t, "%v\t%v\t  %s\n", f.Summary.Lines, f.Summary.Functions, relativePath(f.Filename))
	}
	fmt.Fprintf(t, "%v\t%v\t  all\n", d.Totals.Lines, d.Totals.Functions)
	if err := t.Flush(); err != nil {
		return exit.Failure(err)
	}
	fs := e.functions()
	c.demangle(fs)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nreached\t  function")
	for _, f := range fs {
		reached := "never"
		if f.reached > 0 {
			reached = fmt.Sprintf("%.0f%%", 100*f.share())
		}
		fmt.Fprintf(t, "%s\t  %s:%d %s\n", reached, relativePath(f.file), f.line, f.name)
	}
	return exit.Failure(t.Flush())
}

// functions returns the functions, those of which least was reached first.
func (e *covExport) functions() []*covFunction {
	type place struct {
		file string
		line uint64
		col  uint64
	}
	at := map[place]*covFunction{}
	var out []*covFunction
	for _, f := range e.Data[0].Functions {
		if len(f.Filenames) == 0 || len(f.Regions) == 0 || len(f.Regions[0]) < 8 {
			continue
		}
		p := place{f.Filenames[0], f.Regions[0][0], f.Regions[0][1]}
		row := &covFunction{name: f.Name, file: p.file, line: p.line}
		if _, name, ok := strings.Cut(f.Name, ":"); ok { // a static function's name has its file before it
			row.name = name
		}
		const code = 0 // kind of a region
		for _, r := range f.Regions {
			if len(r) >= 8 && r[7] == code {
				row.regions++
				if r[4] > 0 {
					row.reached++
				}
			}
		}
		switch known := at[p]; {
		case known == nil:
			at[p] = row
			out = append(out, row)
		case row.reached > known.reached:
			*known = *row
		}
	}
	slices.SortFunc(out, func(a, b *covFunction) int {
		return cmp.Or(cmp.Compare(a.share(), b.share()), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.name, b.name))
	})
	return out
}

// demangle demangles C++ names, if llvm-cxxfilt is installed.
func (c *coverage) demangle(fs []*covFunction) {
	var names strings.Builder
	for _, f := range fs {
		names.WriteString(f.name + "\n")
	}
	if c.tools["llvm-cxxfilt"] == "" {
		return
	}
	out, err := c.runTool("llvm-cxxfilt", strings.NewReader(names.String()))
	if lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err == nil && len(lines) == len(fs) {
		for i := range fs {
			fs[i].name = lines[i]
		}
	}
}

// relativePath returns the path from the working directory of what is below that; other paths are returned as they are.
func relativePath(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
