package triage

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// core is a core dump: see core(5) and elf(5).
type core struct {
	process
	file   *elf.File
	signal syscall.Signal // the signal that ended the process
}

// registerOffset is the offset of the registers in the kernel's struct elf_prstatus.
const registerOffset = 112

var errNoCore = errors.New("it is not a core dump of a supported machine, expected x86-64 or ARM64")

// Core reads a core dump, see core(5). It returns the signal that ended the process, and the functions that were active,
// innermost first. Where the programs do not say how to find them, the stack is a guess.
func (s *Symbols) Core(path string) (syscall.Signal, Stack, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, nil, fmt.Errorf("reading a core dump: %w", err)
	}
	defer f.Close()
	c := core{file: f}
	c.machine, c.order, c.read = f.Machine, f.ByteOrder, c.memory
	if err := c.notes(); err != nil {
		return 0, nil, fmt.Errorf("reading a core dump: %w", err)
	}
	return c.signal, c.stack(s), nil
}

// notes reads the registers of the first thread, which is the one that got the signal, and the mapped files.
func (c *core) notes() error {
	found := false
	for _, p := range c.file.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		data, err := io.ReadAll(p.Open())
		if err != nil {
			return err
		}
		for len(data) >= 12 {
			name, size, kind := int(c.order.Uint32(data)), int(c.order.Uint32(data[4:])), c.order.Uint32(data[8:])
			at := 12 + (name+3)&^3
			end := at + (size+3)&^3
			if name < 0 || size < 0 || end > len(data) || at > end {
				break
			}
			switch body := data[at : at+size]; {
			case kind == 1 && !found && len(body) >= registerOffset: // NT_PRSTATUS
				c.registers, found = registerSet(c.machine, c.order, body[registerOffset:])
				c.signal = syscall.Signal(c.order.Uint32(body))
			case kind == 0x46494c45: // NT_FILE
				c.files(body)
			}
			data = data[end:]
		}
	}
	if !found || len(c.mappings) == 0 {
		return errNoCore
	}
	return nil
}

// files reads a note with the mapped files.
func (c *core) files(body []byte) {
	if len(body) < 16 {
		return
	}
	count, page := c.order.Uint64(body), c.order.Uint64(body[8:])
	if count > uint64(len(body))/24 {
		return
	}
	names := strings.Split(string(body[16+24*count:]), "\x00")
	for i := range int(count) {
		e := body[16+24*i:]
		if i < len(names) {
			c.mappings = append(c.mappings, mapping{c.order.Uint64(e), c.order.Uint64(e[8:]), c.order.Uint64(e[16:]) * page, names[i]})
		}
	}
}

// memory reads the memory at an address.
func (c *core) memory(b []byte, at uint64) int {
	for _, p := range c.file.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= at && at < p.Vaddr+p.Filesz {
			n, _ := p.ReadAt(b, int64(at-p.Vaddr))
			return n
		}
	}
	return 0
}
