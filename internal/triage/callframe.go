package triage

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// callFrames is a program's section .eh_frame: how to get from each instruction to the function's caller. See section 6.4 of DWARF 5, and
// what the Linux Standard Base changes about it. Nearly all programs have it, also those without any symbols.
type callFrames struct {
	order binary.ByteOrder
	data  []byte
	at    uint64 // address of the section, as assigned by the linker
	parts []framePart
}

// framePart describes a function, or a part of one (an FDE).
type framePart struct {
	from, to uint64
	common   *frameCommon
	program  []byte
}

// frameCommon is what several functions have in common (a CIE).
type frameCommon struct {
	codeAlign uint64
	dataAlign int64
	ret       int // number of the register that stands for the return address
	encoding  byte
	signal    bool // the function is where the kernel lets a signal handler return to
	augmented bool
	program   []byte
}

// newCallFrames reads the section. What cannot be read is left out.
func newCallFrames(order binary.ByteOrder, data []byte, at uint64) *callFrames {
	c := &callFrames{order: order, data: data, at: at}
	commons := map[int]*frameCommon{}
	for at := 0; at+8 <= len(data); {
		size, begin := int(order.Uint32(data[at:])), at+4
		if size == 0 || size == 0xffffffff || begin+size > len(data) { // 64-bit lengths are not used in practice
			break
		}
		r := frameReader{c, data[:begin+size], begin + 4}
		if id := int(order.Uint32(data[begin:])); id == 0 {
			commons[at] = r.common()
		} else if common := commons[begin-id]; common != nil {
			if p, ok := r.part(common); ok {
				c.parts = append(c.parts, p)
			}
		}
		at = begin + size
	}
	slices.SortFunc(c.parts, func(a, b framePart) int { return cmp.Compare(a.from, b.from) })
	return c
}

// find returns the part that contains an address, nil if there is none.
func (c *callFrames) find(at uint64) *framePart {
	i := sort.Search(len(c.parts), func(i int) bool { return c.parts[i].from > at }) - 1
	if i < 0 || at >= c.parts[i].to {
		return nil
	}
	return &c.parts[i]
}

// frameReader reads an entry of the section. Beyond its end it reads zeros.
type frameReader struct {
	*callFrames
	entry []byte // the section up to the end of the entry
	i     int
}

func (r *frameReader) more() bool { return r.i < len(r.entry) }

func (r *frameReader) byte() byte {
	if !r.more() {
		return 0
	}
	r.i++
	return r.entry[r.i-1]
}

// fixed reads a number of a size in bytes.
func (r *frameReader) fixed(size int) (n uint64) {
	var b [8]byte
	if r.i+size <= len(r.entry) {
		copy(b[:], r.entry[r.i:r.i+size])
	}
	r.i += size
	if r.order == binary.BigEndian {
		return 0 // no such machine is supported
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (r *frameReader) unsigned() (n uint64) {
	for shift := 0; r.more() && shift < 64; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return n
}

func (r *frameReader) signed() (n int64) {
	for shift := 0; r.more() && shift < 64; {
		b := r.byte()
		n |= int64(b&0x7f) << shift
		if shift += 7; b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				n -= 1 << shift
			}
			break
		}
	}
	return n
}

func (r *frameReader) bytes(n uint64) []byte {
	from := min(r.i, len(r.entry))
	to := from + int(min(n, uint64(len(r.entry)-from)))
	r.i = to
	return r.entry[from:to]
}

// pointer reads an address that is encoded like those of exception handlers. false: the encoding is not supported.
func (r *frameReader) pointer(encoding byte) (uint64, bool) {
	base := uint64(0)
	switch encoding & 0x70 {
	case 0x00:
	case 0x10: // relative to its own address
		base = r.at + uint64(r.i)
	default:
		return 0, false
	}
	switch encoding & 0x8f {
	case 0x00, 0x04, 0x0c:
		return base + r.fixed(8), true
	case 0x02:
		return base + r.fixed(2), true
	case 0x03:
		return base + r.fixed(4), true
	case 0x0a:
		return base + uint64(int16(r.fixed(2))), true
	case 0x0b:
		return base + uint64(int32(r.fixed(4))), true
	case 0x01:
		return base + r.unsigned(), true
	case 0x09:
		return base + uint64(r.signed()), true
	}
	return 0, false
}

// common reads what several functions have in common, nil if it is not supported.
func (r *frameReader) common() *frameCommon {
	c := &frameCommon{}
	version := r.byte()
	var augmentation []byte
	for b := r.byte(); b != 0; b = r.byte() {
		augmentation = append(augmentation, b)
	}
	c.codeAlign, c.dataAlign = r.unsigned(), r.signed()
	if version == 1 {
		c.ret = int(r.byte())
	} else {
		c.ret = int(r.unsigned())
	}
	if len(augmentation) > 0 {
		if augmentation[0] != 'z' {
			return nil
		}
		c.augmented = true
		end := r.unsigned()
		end += uint64(r.i)
		for _, a := range augmentation[1:] {
			switch a {
			case 'R':
				c.encoding = r.byte()
			case 'S':
				c.signal = true
			case 'L':
				r.byte()
			case 'P':
				if _, ok := r.pointer(r.byte() & 0x7f); !ok {
					return nil
				}
			}
		}
		r.i = int(min(end, uint64(len(r.entry))))
	}
	c.program = r.bytes(uint64(len(r.entry)))
	return c
}

// part reads the description of a function.
func (r *frameReader) part(c *frameCommon) (p framePart, ok bool) {
	if p.from, ok = r.pointer(c.encoding); !ok {
		return p, false
	}
	size, ok := r.pointer(c.encoding & 0x0f)
	if !ok || size == 0 {
		return p, false
	}
	p.to, p.common = p.from+size, c
	if c.augmented {
		r.bytes(r.unsigned())
	}
	p.program = r.bytes(uint64(len(r.entry)))
	return p, true
}

// frameRule says where a register of the caller is.
type frameRule struct {
	kind  frameRuleKind
	value int64 // an offset to the frame's address, or the number of a register
}

type frameRuleKind uint8

const (
	ruleSame     frameRuleKind = iota // where it is now
	ruleUnknown                       // nowhere
	ruleMemory                        // in memory, at an offset
	ruleOffset                        // the frame's address and an offset
	ruleRegister                      // in another register
)

// frameRow is how to get to the caller from one instruction. The frame's address is that of the stack before the call.
type frameRow struct {
	base      int   // register that the frame's address is relative to; -1: it is an expression, which is not supported
	offset    int64 // from that
	registers [maxRegister]frameRule
}

// row runs the instructions for an address. false: one of them is not supported.
func (c *callFrames) row(p *framePart, at uint64) (row frameRow, ok bool) {
	run := frameRun{callFrames: c, common: p.common, here: p.from, at: at}
	if !run.run(p.common.program) {
		return row, false
	}
	run.initial = run.row
	if !run.run(p.program) {
		return row, false
	}
	return run.row, run.row.base >= 0
}

// frameRun executes the instructions of a part.
type frameRun struct {
	*callFrames
	common       *frameCommon
	here, at     uint64 // address of the row, and the one that is looked for
	row, initial frameRow
	saved        []frameRow
}

func (f *frameRun) set(register uint64, r frameRule) {
	if register < maxRegister {
		f.row.registers[register] = r
	}
}

func (f *frameRun) run(program []byte) bool {
	r := frameReader{f.callFrames, program, 0}
	for r.more() && f.here <= f.at {
		op := r.byte()
		low := uint64(op & 0x3f)
		switch op & 0xc0 {
		case 0x40:
			f.here += low * f.common.codeAlign
			if f.here > f.at {
				return true
			}
			continue
		case 0x80:
			f.set(low, frameRule{ruleMemory, int64(r.unsigned()) * f.common.dataAlign})
			continue
		case 0xc0:
			f.restore(low)
			continue
		}
		if !f.extended(&r, op) {
			return false
		}
	}
	return true
}

func (f *frameRun) restore(register uint64) {
	if register < maxRegister {
		f.row.registers[register] = f.initial.registers[register]
	}
}

// extended executes an instruction that has a byte of its own.
func (f *frameRun) extended(r *frameReader, op byte) bool {
	align := f.common.dataAlign
	advance := func(n uint64) { f.here += n * f.common.codeAlign }
	switch op {
	case 0x00, 0x2d: // nothing; the registers' windows of SPARC, and the signed return addresses of ARM
	case 0x01:
		f.here, _ = r.pointer(f.common.encoding)
	case 0x02:
		advance(r.fixed(1))
	case 0x03:
		advance(r.fixed(2))
	case 0x04:
		advance(r.fixed(4))
	case 0x05:
		n := r.unsigned()
		f.set(n, frameRule{ruleMemory, int64(r.unsigned()) * align})
	case 0x06:
		f.restore(r.unsigned())
	case 0x07:
		f.set(r.unsigned(), frameRule{kind: ruleUnknown})
	case 0x08:
		f.set(r.unsigned(), frameRule{})
	case 0x09:
		n := r.unsigned()
		f.set(n, frameRule{ruleRegister, int64(r.unsigned())})
	case 0x0a:
		f.saved = append(f.saved, f.row)
	case 0x0b:
		if n := len(f.saved) - 1; n >= 0 {
			f.row, f.saved = f.saved[n], f.saved[:n]
		}
	case 0x10, 0x16: // by an expression
		f.set(r.unsigned(), frameRule{kind: ruleUnknown})
		r.bytes(r.unsigned())
	case 0x11:
		n := r.unsigned()
		f.set(n, frameRule{ruleMemory, r.signed() * align})
	case 0x14:
		n := r.unsigned()
		f.set(n, frameRule{ruleOffset, int64(r.unsigned()) * align})
	case 0x15:
		n := r.unsigned()
		f.set(n, frameRule{ruleOffset, r.signed() * align})
	case 0x2e: // bytes of arguments
		r.unsigned()
	default:
		return f.base(r, op)
	}
	return true
}

// base executes an instruction that says from where the frame's address is counted.
func (f *frameRun) base(r *frameReader, op byte) bool {
	switch op {
	case 0x0c:
		f.row.base = int(r.unsigned())
		f.row.offset = int64(r.unsigned())
	case 0x0d:
		f.row.base = int(r.unsigned())
	case 0x0e:
		f.row.offset = int64(r.unsigned())
	case 0x0f: // by an expression
		f.row.base = -1
		r.bytes(r.unsigned())
	case 0x12:
		f.row.base = int(r.unsigned())
		f.row.offset = r.signed() * f.common.dataAlign
	case 0x13:
		f.row.offset = r.signed() * f.common.dataAlign
	default:
		return false
	}
	return true
}
