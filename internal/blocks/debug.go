package blocks

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// mostDebug is how large debug information may be to be searched for inlined functions, which takes about a second for so much.
const mostDebug = 48 << 20

// between returns which of sorted addresses are from low up to before high.
func between(addresses []uint64, low, high uint64) (from, to int) {
	from, _ = slices.BinarySearch(addresses, low)
	to, _ = slices.BinarySearch(addresses, high)
	return from, max(from, to)
}

// name sets the functions of blocks, as the table of symbols has them.
func name(f *elf.File, addresses []uint64, into []Block) {
	symbols, _ := f.Symbols() // without them, functions have no names
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		from, to := between(addresses, s.Value, s.Value+s.Size)
		for i := from; i < to; i++ {
			if into[i].Function == "" {
				into[i].Function = triage.Demangled(s.Name)
			}
		}
	}
}

// place sets the files and lines of blocks. What the linker has dropped has lines at addresses from 0 on: of several sequences of lines that
// cover an address, the one that begins last counts.
func place(d *dwarf.Data, addresses []uint64, into []Block) {
	begins := make([]uint64, len(addresses)) // of the sequence that a block's line is from
	for r := d.Reader(); ; r.SkipChildren() {
		unit, err := r.Next()
		if err != nil || unit == nil {
			return
		}
		if unit.Tag != dwarf.TagCompileUnit {
			continue
		}
		table, err := d.LineReader(unit)
		if err != nil || table == nil {
			continue
		}
		var before, e dwarf.LineEntry
		before.EndSequence = true
		begin, files := uint64(0), map[*dwarf.LineFile]string{}
		for table.Next(&e) == nil {
			if before.EndSequence {
				begin = e.Address
			} else if before.File != nil && before.Line > 0 {
				from, to := between(addresses, before.Address, e.Address)
				if _, known := files[before.File]; !known && from < to {
					files[before.File] = triage.SourceFile(unit, before.File)
				}
				for i := from; i < to; i++ {
					if into[i].File == "" || begin >= begins[i] {
						into[i].File, into[i].Line, begins[i] = files[before.File], before.Line, begin
					}
				}
			}
			before = e
		}
	}
}

// call is a range of code that belongs to an inlined function.
type call struct {
	low, high uint64
	function  dwarf.Offset
}

// inline sets the functions of blocks that belong to inlined ones.
func inline(d *dwarf.Data, addresses []uint64, into []Block) {
	var calls []call
	names := map[dwarf.Offset]string{}
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagInlinedSubroutine:
			origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			ranges, err := d.Ranges(e)
			if !ok || err != nil {
				continue
			}
			for _, g := range ranges {
				if from, to := between(addresses, g[0], g[1]); from < to {
					calls = append(calls, call{g[0], g[1], origin})
				}
			}
		case dwarf.TagSubprogram, dwarf.TagLexDwarfBlock, dwarf.TagCompileUnit, dwarf.TagNamespace, dwarf.TagClassType, dwarf.TagStructType:
		default:
			r.SkipChildren()
		}
	}
	// The widest come first: of those around an address, the innermost is the last one to set the name.
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(b.high-b.low, a.high-a.low) })
	for _, c := range calls {
		from, to := between(addresses, c.low, c.high)
		for i := from; i < to; i++ {
			if _, ok := names[c.function]; !ok {
				names[c.function] = functionAt(d, c.function)
			}
			into[i].Function = cmp.Or(names[c.function], into[i].Function)
		}
	}
}

// functionAt returns the name of a function, which may be in the entry to which this one refers. The linkage name, which includes the
// class, is preferred.
func functionAt(d *dwarf.Data, at dwarf.Offset) string {
	short := ""
	for range 4 {
		r := d.Reader()
		r.Seek(at)
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if n, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
			return triage.Demangled(n)
		}
		if n, ok := e.Val(dwarf.AttrName).(string); ok && short == "" {
			short = n
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		at = next
	}
	return short
}
