package triage

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
)

// core is a core dump: see core(5) and elf(5).
type core struct {
	file     *elf.File
	signal   syscall.Signal // the signal that ended the process
	mappings []mapping
	programs map[string]*elf.File
}

const (
	maxFrames = 6
	maxStack  = 16 << 10 // bytes of the stack that are searched
	// registerOffset is the offset of the registers in the kernel's struct elf_prstatus.
	registerOffset = 112
)

var errNoCore = errors.New("it is not a core dump of a supported machine, expected x86-64 or ARM64")

// Core reads a core dump, see core(5). It returns the signal that ended the process, and the functions that were active,
// innermost first. The stack is a guess: every word on it that looks like a return address counts, each function once.
func (s *Symbols) Core(path string) (syscall.Signal, Stack, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, nil, fmt.Errorf("reading a core dump: %w", err)
	}
	defer f.Close()
	c := core{file: f, programs: map[string]*elf.File{}}
	defer func() {
		for _, p := range c.programs {
			if p != nil {
				p.Close()
			}
		}
	}()
	pc, sp, err := c.notes()
	if err != nil {
		return 0, nil, fmt.Errorf("reading a core dump: %w", err)
	}
	return c.signal, c.stack(s, pc, sp), nil
}

// notes reads the registers of the first thread, which is the one that got the signal, and the mapped files.
func (c *core) notes() (pc, sp uint64, err error) {
	pcAt, spAt := 0, 0
	switch c.file.Machine {
	case elf.EM_X86_64:
		pcAt, spAt = registerOffset+16*8, registerOffset+19*8
	case elf.EM_AARCH64:
		pcAt, spAt = registerOffset+32*8, registerOffset+31*8
	default:
		return 0, 0, errNoCore
	}
	for _, p := range c.file.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		data, err := io.ReadAll(p.Open())
		if err != nil {
			return 0, 0, err
		}
		for len(data) >= 12 {
			order := c.file.ByteOrder
			name, size, kind := int(order.Uint32(data)), int(order.Uint32(data[4:])), order.Uint32(data[8:])
			at := 12 + (name+3)&^3
			end := at + (size+3)&^3
			if name < 0 || size < 0 || end > len(data) || at > end {
				break
			}
			switch body := data[at : at+size]; {
			case kind == 1 && pc == 0 && len(body) >= pcAt+16: // NT_PRSTATUS
				pc, sp = order.Uint64(body[pcAt:]), order.Uint64(body[spAt:])
				c.signal = syscall.Signal(order.Uint32(body))
			case kind == 0x46494c45: // NT_FILE
				c.mapped(body)
			}
			data = data[end:]
		}
	}
	if pc == 0 || len(c.mappings) == 0 {
		return 0, 0, errNoCore
	}
	return pc, sp, nil
}

// mapped reads a note with the mapped files.
func (c *core) mapped(body []byte) {
	order := c.file.ByteOrder
	if len(body) < 16 {
		return
	}
	count, page := order.Uint64(body), order.Uint64(body[8:])
	if count > uint64(len(body))/24 {
		return
	}
	names := strings.Split(string(body[16+24*count:]), "\x00")
	for i := range int(count) {
		e := body[16+24*i:]
		if i < len(names) {
			c.mappings = append(c.mappings, mapping{order.Uint64(e), order.Uint64(e[8:]), order.Uint64(e[16:]) * page, names[i]})
		}
	}
}

// stack returns the function at the program counter and its callers. Functions of libraries are left out if there are any of
// the program.
func (c *core) stack(s *Symbols, pc, sp uint64) Stack {
	var own, others []address
	add := func(at uint64, call bool) {
		if a, ok := c.unloaded(at, call); ok && a.module == c.mappings[0].path {
			own = append(own, a)
		} else if ok {
			others = append(others, a)
		}
	}
	add(pc, false)
	for _, p := range c.file.Progs {
		if p.Type != elf.PT_LOAD || sp < p.Vaddr || sp >= p.Vaddr+p.Filesz {
			continue
		}
		memory := make([]byte, min(maxStack, p.Vaddr+p.Filesz-sp))
		n, _ := p.ReadAt(memory, int64(sp-p.Vaddr))
		for at := 0; at+8 <= n; at += 8 {
			add(c.file.ByteOrder.Uint64(memory[at:]), true)
		}
	}
	if stack := s.functions(own); len(stack) > 0 {
		return stack
	}
	return s.functions(others)
}

// functions returns the functions of addresses, each once, and about maxFrames of them.
func (s *Symbols) functions(addresses []address) (stack Stack) {
	for _, a := range addresses {
		for _, f := range s.Frames(a.module, a.offset) {
			known := slices.ContainsFunc(stack, func(g Frame) bool { return f.name() == g.name() })
			if !known && f.Function != "_start" {
				stack = append(stack, f)
			}
		}
		if len(stack) >= maxFrames {
			break
		}
	}
	return stack
}

// unloaded converts an address in the process to the address that the linker has assigned, if it is an address of code. If call
// is set, at must be a return address, preceded by a call instruction, and the result is an address within that instruction: the
// return address may belong to the next function.
func (c *core) unloaded(at uint64, call bool) (a address, ok bool) {
	for _, m := range c.mappings {
		if at < m.from || at >= m.to {
			continue
		}
		f := c.open(m.path)
		if f == nil {
			return a, false
		}
		offset := at - m.from + m.offset
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || offset < p.Off || offset >= p.Off+p.Filesz {
				continue
			}
			a = address{m.path, offset - p.Off + p.Vaddr}
			if call && !called(f, p, a.offset) {
				return a, false
			}
			if call {
				a.offset--
			}
			return a, true
		}
		return a, false
	}
	return a, false
}

func (c *core) open(path string) *elf.File {
	f, known := c.programs[path]
	if !known {
		f, _ = elf.Open(path) // nil if that fails
		c.programs[path] = f
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
