package triage

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Symbols resolves addresses to functions, files and lines, by ELF symbol tables and DWARF. The zero value is ready to use. It is
// for one goroutine at a time.
type Symbols struct {
	pid      int
	mappings []mapping
	modules  map[string]*module
	frames   map[address][]Frame
}

// mapping is a file in the address space of a process.
type mapping struct {
	from, to, offset uint64
	path             string
}

// address is an address in a file, as assigned by the linker.
type address struct {
	module string
	offset uint64
}

type module struct {
	file      *elf.File
	functions []elf.Symbol // by address
	debug     *dwarf.Data  // nil: none
	unwinding []byte       // section .eh_frame
	frames    *callFrames  // read from it; nil: not yet
}

// Of sets the process to which the addresses given to [Symbols.Address] belong, and reads its mappings, see proc_pid_maps(5). If
// they cannot be read, the mappings of the previous process stay.
func (s *Symbols) Of(pid int) {
	if pid == s.pid {
		return
	}
	if mappings, err := mappingsOf(pid); err == nil {
		s.pid, s.mappings = pid, mappings
	}
}

// mappingsOf returns the files in the address space of a process, lowest addresses first.
func mappingsOf(pid int) (mappings []mapping, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(b)) {
		numbers, name, ok := strings.Cut(strings.TrimSuffix(l, "\n"), " /") // a name may contain spaces
		f := strings.Fields(numbers)
		if !ok || len(f) < 5 {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		m := mapping{path: "/" + name}
		m.from, _ = strconv.ParseUint(from, 16, 64)
		m.to, _ = strconv.ParseUint(to, 16, 64)
		m.offset, _ = strconv.ParseUint(f[2], 16, 64)
		mappings = append(mappings, m)
	}
	return mappings, nil
}

// Address returns the frames of an address in the process, the innermost inlined function first. There is always one at least.
func (s *Symbols) Address(pc uint64) []Frame {
	for _, m := range s.mappings {
		if m.from <= pc && pc < m.to {
			return s.Frames(m.path, s.unloaded(m.path, pc-m.from+m.offset))
		}
	}
	return []Frame{{Offset: pc}}
}

// unloaded converts an offset in a file to the address that the linker has assigned.
func (s *Symbols) unloaded(path string, offset uint64) uint64 {
	m := s.module(path)
	if m.file == nil {
		return offset
	}
	for _, p := range m.file.Progs {
		if p.Type == elf.PT_LOAD && p.Off <= offset && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr
		}
	}
	return offset
}

func (s *Symbols) module(path string) *module {
	if m, ok := s.modules[path]; ok {
		return m
	}
	if s.modules == nil {
		s.modules, s.frames = map[string]*module{}, map[address][]Frame{}
	}
	m := &module{}
	s.modules[path] = m
	f, err := elf.Open(path)
	if err != nil {
		return m
	}
	defer f.Close() // all that is needed is read here
	m.file = f
	f.Type = elf.ET_EXEC // for other types package elf would apply relocations, which the linker mold keeps, a second time
	m.debug, _ = f.DWARF()
	if section := f.Section(".eh_frame"); section != nil && section.Type != elf.SHT_NOBITS {
		m.unwinding, _ = section.Data()
	}
	all, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, x := range append(all, dynamic...) {
		if elf.ST_TYPE(x.Info) == elf.STT_FUNC && x.Value != 0 {
			m.functions = append(m.functions, x)
		}
	}
	slices.SortStableFunc(m.functions, func(a, b elf.Symbol) int { return int(min(max(int64(a.Value-b.Value), -1), 1)) })
	return m
}

// callFrames returns how to get from an instruction of the module to the caller of its function. It may be empty.
func (m *module) callFrames() *callFrames {
	if m.frames == nil {
		m.frames = &callFrames{}
		if len(m.unwinding) > 0 {
			m.frames = newCallFrames(m.file.ByteOrder, m.unwinding, m.file.Section(".eh_frame").Addr)
		}
	}
	return m.frames
}

// Frames returns the frames of an address as assigned by the linker, the innermost inlined function first. It can be used as
// [Reader.Frames]. The caller must not modify the result.
func (s *Symbols) Frames(path string, at uint64) []Frame {
	m := s.module(path)
	key := address{path, at}
	if fs, ok := s.frames[key]; ok {
		return fs
	}
	fs := m.lookup(at)
	for i := range fs {
		fs[i].Module, fs[i].Offset = path, at
	}
	s.frames[key] = fs
	return fs
}

// Within returns how far an address as assigned by the linker is from the beginning of its function. false: the function is unknown.
func (s *Symbols) Within(path string, at uint64) (uint64, bool) {
	m := s.module(path)
	if i := m.function(at); i >= 0 {
		return at - m.functions[i].Value, true
	}
	if part := m.callFrames().find(at); part != nil {
		return at - part.from, true
	}
	return 0, false
}

// function returns the index of the function that contains an address, -1 if there is none.
func (m *module) function(at uint64) int {
	i := sort.Search(len(m.functions), func(i int) bool { return m.functions[i].Value > at }) - 1
	if i >= 0 && (m.functions[i].Size == 0 || at < m.functions[i].Value+m.functions[i].Size) {
		return i
	}
	return -1
}

func (m *module) lookup(at uint64) []Frame {
	name := ""
	if i := m.function(at); i >= 0 {
		name, _, _ = strings.Cut(m.interceptor(i).Name, "@")
		name = Demangled(name)
	}
	if m.debug != nil {
		if fs := m.lines(at, name); fs != nil {
			return fs
		}
	}
	return []Frame{{Function: name}}
}

// interceptor returns the i-th function, under the name that it has in a sanitizer's runtime if it is one of those: a program has them
// under the names of the C library too.
func (m *module) interceptor(i int) elf.Symbol {
	for j := i; j >= 0 && m.functions[j].Value == m.functions[i].Value; j-- {
		if strings.Contains(m.functions[j].Name, "_interceptor_") {
			return m.functions[j]
		}
	}
	return m.functions[i]
}

// lines reads DWARF: the position of the address from the line table, and the inlined functions from the tree of entries.
func (m *module) lines(at uint64, name string) []Frame {
	r := m.debug.Reader()
	unit, err := r.SeekPC(at)
	if err != nil {
		return nil
	}
	table, err := m.debug.LineReader(unit)
	if err != nil || table == nil {
		return nil
	}
	e, ok := row(table, at)
	if !ok {
		return nil
	}
	here := Frame{Function: name, Line: e.Line, File: SourceFile(unit, e.File), DebugColumn: e.Column}
	inlined := m.inlined(r, at)
	var out []Frame
	for _, c := range slices.Backward(inlined) { // innermost first
		here.Function = c.name
		out = append(out, here)
		here = Frame{Function: name, Line: c.line, DebugColumn: c.column}
		if fs := table.Files(); c.file >= 0 && c.file < len(fs) { // 0 is a file from DWARF 5 on, and nil before
			here.File = SourceFile(unit, fs[c.file])
		}
	}
	return append(out, here)
}

// row returns the row of a line table that covers an address. A unit has a sequence of rows for each of its sections, in any order, and
// LineReader.SeekPC gives up at the first sequence beyond the address: functions that are inline, templates, cold or not used elsewhere
// have sections of their own. What the linker has dropped has a sequence that begins at 0: of several that cover an address the last
// one to begin counts.
func row(table *dwarf.LineReader, at uint64) (best dwarf.LineEntry, ok bool) {
	var begin, bestBegin uint64
	before := dwarf.LineEntry{EndSequence: true}
	for {
		var e dwarf.LineEntry
		if table.Next(&e) != nil {
			return best, ok
		}
		if before.EndSequence {
			begin = e.Address
		} else if before.Address <= at && at < e.Address && (!ok || begin >= bestBegin) {
			best, bestBegin, ok = before, begin, true
		}
		before = e
	}
}

// SourceFile returns the name of a file of a line table, whose unit is given. Where DWARF 5 has a full path, package dwarf prepends the
// folder of the unit all the same.
func SourceFile(unit *dwarf.Entry, f *dwarf.LineFile) string {
	if f == nil {
		return ""
	}
	folder, _ := unit.Val(dwarf.AttrCompDir).(string)
	full, found := strings.CutPrefix(f.Name, path.Clean(folder))
	if !found || !strings.HasPrefix(full, "/") {
		return f.Name
	}
	if main, _ := unit.Val(dwarf.AttrName).(string); full == main {
		return full
	}
	if _, err := os.Stat(f.Name); err == nil {
		return f.Name
	}
	if _, err := os.Stat(full); err == nil {
		return full
	}
	return f.Name
}

// callsite is an inlined function and where it was called.
type callsite struct {
	name               string
	file, line, column int
}

// inlined returns the inlined functions around an address, outermost first.
func (m *module) inlined(r *dwarf.Reader, at uint64) (calls []callsite) {
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return calls
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		if e.Tag == dwarf.TagCompileUnit {
			return calls
		}
		within := e.Tag == dwarf.TagLexDwarfBlock || e.Tag == dwarf.TagNamespace
		if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			within = m.covers(e, at)
			if within && e.Tag == dwarf.TagInlinedSubroutine {
				c := callsite{name: m.name(e), file: -1}
				if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
					c.file = int(n)
				}
				if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
					c.line = int(n)
				}
				if n, ok := e.Val(dwarf.AttrCallColumn).(int64); ok {
					c.column = int(n)
				}
				calls = append(calls, c)
			}
		}
		if !e.Children {
			continue
		}
		if within {
			depth++
		} else {
			r.SkipChildren()
		}
	}
	return calls
}

func (m *module) covers(e *dwarf.Entry, at uint64) bool {
	ranges, err := m.debug.Ranges(e)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= at && at < r[1] })
}

// name returns the name of an inlined function, which may be in the entry to which this one refers. The linkage name, which
// includes the class, is preferred.
func (m *module) name(e *dwarf.Entry) string {
	for range 4 {
		if n, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			return Demangled(n)
		}
		if n, ok := e.Val(dwarf.AttrName).(string); ok {
			return n
		}
		at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if at, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		r := m.debug.Reader()
		r.Seek(at)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return ""
}
