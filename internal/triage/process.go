package triage

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// process is a process that a signal has stopped: in a core dump, or under a tracer.
type process struct {
	machine   elf.Machine
	order     binary.ByteOrder
	mappings  []mapping
	registers registers
	// read reads the memory at an address, and returns how many bytes could be read.
	read     func(b []byte, at uint64) int
	programs map[string]*elf.File // for the search of return addresses
}

const (
	maxGuessed = 6         // functions of a guessed stack
	maxFrames  = 128       // of an exact one
	maxStack   = 16 << 10  // bytes of the stack that are searched
	stackAbove = 512 << 20 // a frame that is further from the one before is not on the same stack
)

// maxRegister is one more than the largest number of a register, as DWARF numbers them.
const maxRegister = 32

// registers are those of a thread, by DWARF's numbers. On x86-64 the stack pointer is number 7, on ARM64 number 31; there the return address
// of a function that calls no other is in register 30.
type registers struct {
	pc     uint64
	sp     int
	values [maxRegister]uint64
	known  [maxRegister]bool
}

// registerSet returns the registers that the kernel gives in its struct user_regs_struct or user_pt_regs. ok is false if the machine is not
// supported.
func registerSet(machine elf.Machine, order binary.ByteOrder, data []byte) (r registers, ok bool) {
	// The registers of x86-64 in the order of the struct.
	x86 := [...]int{15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, -1, -1, -1, -1, 7}
	word := func(i int) uint64 { return order.Uint64(data[8*i:]) }
	switch {
	case machine == elf.EM_X86_64 && len(data) >= 20*8:
		for i, n := range x86 {
			if n >= 0 {
				r.set(n, word(i))
			}
		}
		r.pc, r.sp = word(16), 7
		return r, true
	case machine == elf.EM_AARCH64 && len(data) >= 33*8:
		for i := range 32 {
			r.set(i, word(i))
		}
		r.pc, r.sp = word(32), 31
		return r, true
	}
	return r, false
}

func (r *registers) set(n int, value uint64) { r.values[n], r.known[n] = value, true }

func (r *registers) stack() uint64 { return r.values[r.sp] }

// word reads a word of the memory.
func (p *process) word(at uint64) (uint64, bool) {
	var b [8]byte
	if p.read(b[:], at) < len(b) {
		return 0, false
	}
	return p.order.Uint64(b[:]), true
}

// stack returns the active functions, innermost first. If the programs say how to unwind them, it is exact: the first frame is that of the
// instruction at which the process has stopped, and the others are calls. Otherwise it is a guess: every word on the stack that looks like a
// return address counts, each function once, and functions of libraries are left out if there are any of the program.
func (p *process) stack(s *Symbols) Stack {
	defer func() {
		for _, f := range p.programs {
			if f != nil {
				f.Close()
			}
		}
	}()
	p.programs = map[string]*elf.File{}
	if stack := p.unwind(s).withoutStart(); slices.ContainsFunc(stack, func(f Frame) bool { return f.Module == p.mappings[0].path }) {
		return stack
	}
	return p.guess(s)
}

// withoutStart removes the functions that have started the thread.
func (s Stack) withoutStart() Stack {
	end := slices.IndexFunc(s, func(f Frame) bool { return strings.HasPrefix(f.Function, "__libc_start_") })
	if end < 0 {
		end = len(s)
	}
	for end > 0 && s[end-1].inLibraryModule() {
		end--
	}
	return s[:end]
}

// unwind returns the stack as far as the programs' call frames reach.
func (p *process) unwind(s *Symbols) (stack Stack) {
	r := p.registers
	for call := false; len(stack) < maxFrames; {
		at := r.pc
		if call {
			at-- // the return address may belong to the next function
		}
		m := p.mapped(at)
		if m == nil {
			if call || !p.leave(&r) {
				break
			}
			stack, call = append(stack, Frame{Offset: at}), true // a call of what is no code
			continue
		}
		offset := s.unloaded(m.path, at-m.from+m.offset)
		frames := slices.Clone(s.Frames(m.path, offset))
		if frames[len(frames)-1].Function == "_start" {
			break
		}
		table := s.module(m.path).callFrames()
		part := table.find(offset)
		if last := len(frames) - 1; part != nil && frames[last].Function == "" { // as in a stripped program
			frames[last].Function = fmt.Sprintf("%s+%#x", filepath.Base(m.path), part.from)
		}
		stack = append(stack, frames...)
		if part != nil && part.common.signal {
			if !p.interrupted(&r) {
				break
			}
			stack, call = nil, false // the functions of a signal handler say nothing
			continue
		}
		if part == nil || !p.caller(&r, table, part, offset) {
			if call || part != nil || !p.leave(&r) {
				break
			}
		}
		call = true
	}
	return stack
}

func (p *process) mapped(at uint64) *mapping {
	for i := range p.mappings {
		if m := &p.mappings[i]; m.from <= at && at < m.to {
			return m
		}
	}
	return nil
}

// leave returns from a function that has not changed the stack yet.
func (p *process) leave(r *registers) bool {
	if p.machine == elf.EM_AARCH64 {
		moved := r.values[30] != r.pc
		r.pc = r.values[30]
		return moved && r.pc != 0
	}
	sp := r.stack()
	pc, ok := p.word(sp)
	r.pc = pc
	r.set(r.sp, sp+8)
	return ok && pc != 0
}

// caller sets the registers to what they are in the caller.
func (p *process) caller(r *registers, table *callFrames, part *framePart, at uint64) bool {
	row, ok := table.row(part, at)
	if !ok || row.base >= maxRegister || !r.known[row.base] {
		return false
	}
	frame := r.values[row.base] + uint64(row.offset)
	next := registers{sp: r.sp}
	value := func(n int) (uint64, bool) {
		switch rule := row.registers[n]; rule.kind {
		case ruleMemory:
			return p.word(frame + uint64(rule.value))
		case ruleOffset:
			return frame + uint64(rule.value), true
		case ruleRegister:
			return r.values[rule.value&(maxRegister-1)], rule.value < maxRegister && r.known[rule.value]
		case ruleSame:
			return r.values[n], r.known[n]
		}
		return 0, false
	}
	for n := range maxRegister {
		if v, ok := value(n); ok {
			next.set(n, v)
		}
	}
	if part.common.ret >= maxRegister || !next.known[part.common.ret] {
		return false
	}
	next.pc = next.values[part.common.ret]
	next.set(next.sp, frame)
	grown := frame - r.stack() // a leaf function of ARM64 has no frame
	if next.pc == 0 || grown > stackAbove || grown == 0 && next.pc == r.pc {
		return false
	}
	*r = next
	return true
}

// interrupted sets the registers to what they were when a signal came, of whose handler they are those of the caller: that is where the kernel
// has stored them.
func (p *process) interrupted(r *registers) bool {
	if p.machine != elf.EM_X86_64 {
		return false
	}
	const general = 40 // offset of the registers in a ucontext
	order := [...]int{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, -1}
	next := registers{sp: r.sp}
	for i, n := range order {
		v, ok := p.word(r.stack() + general + uint64(8*i))
		if !ok {
			return false
		}
		if n < 0 {
			next.pc = v
		} else {
			next.set(n, v)
		}
	}
	*r = next
	return true
}

// guess returns the functions whose return addresses seem to be on the stack.
func (p *process) guess(s *Symbols) Stack {
	var own, others []address
	add := func(at uint64, call bool) {
		if a, ok := p.unloaded(at, call); ok && a.module == p.mappings[0].path {
			own = append(own, a)
		} else if ok {
			others = append(others, a)
		}
	}
	add(p.registers.pc, false)
	memory := make([]byte, maxStack)
	n := p.read(memory, p.registers.stack())
	for at := 0; at+8 <= n; at += 8 {
		add(p.order.Uint64(memory[at:]), true)
	}
	if stack := s.functions(own); len(stack) > 0 {
		return stack
	}
	return s.functions(others)
}

// functions returns the functions of addresses, each once, and about maxGuessed of them.
func (s *Symbols) functions(addresses []address) (stack Stack) {
	for _, a := range addresses {
		for _, f := range s.Frames(a.module, a.offset) {
			known := slices.ContainsFunc(stack, func(g Frame) bool { return f.name() == g.name() })
			if !known && f.Function != "_start" {
				stack = append(stack, f)
			}
		}
		if len(stack) >= maxGuessed {
			break
		}
	}
	return stack
}

// unloaded converts an address in the process to the address that the linker has assigned, if it is an address of code. If call
// is set, at must be a return address, preceded by a call instruction, and the result is an address within that instruction: the
// return address may belong to the next function.
func (p *process) unloaded(at uint64, call bool) (a address, ok bool) {
	m := p.mapped(at)
	if m == nil {
		return a, false
	}
	f := p.open(m.path)
	if f == nil {
		return a, false
	}
	offset := at - m.from + m.offset
	for _, part := range f.Progs {
		if part.Type != elf.PT_LOAD || part.Flags&elf.PF_X == 0 || offset < part.Off || offset >= part.Off+part.Filesz {
			continue
		}
		a = address{m.path, offset - part.Off + part.Vaddr}
		if call && !called(f, part, a.offset) {
			return a, false
		}
		if call {
			a.offset--
		}
		return a, true
	}
	return a, false
}

func (p *process) open(path string) *elf.File {
	f, known := p.programs[path]
	if !known {
		f, _ = elf.Open(path) // nil if that fails
		p.programs[path] = f
	}
	return f
}

// called reports whether the instruction before an address is a call instruction.
func called(f *elf.File, p *elf.Prog, at uint64) bool {
	var b [8]byte
	if at-p.Vaddr < uint64(len(b)) {
		return false
	}
	if _, err := p.ReadAt(b[:], int64(at-p.Vaddr)-int64(len(b))); err != nil {
		return false
	}
	if f.Machine == elf.EM_AARCH64 {
		word := binary.LittleEndian.Uint32(b[4:])
		return word>>26 == 0x25 || word&0xfffffc1f == 0xd63f0000 // bl, blr
	}
	if b[3] == 0xe8 {
		return true
	}
	for _, n := range [...]int{2, 3, 4, 6, 7} { // call through a register or memory: ff /2
		if b[8-n] == 0xff && b[9-n]>>3&7 == 2 {
			return true
		}
	}
	return false
}
