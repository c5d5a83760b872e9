package conn

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// mostCore is how large the kernel may make the memory image of a server that dies. What matters, registers and stack, is
// near the beginning of most.
const mostCore = 64 << 20

// withCore returns the arguments that start a program so that the kernel writes an image of its memory into its folder when it
// dies of a signal, where that is what this machine does with them. Without a sanitizer nothing else says where a server has
// died. It is a shell that sets the limit and becomes the program: we may not set that of another user's process.
func withCore(args []string) []string {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/@") { // somebody else gets them
		return args
	}
	const blocks = mostCore / 512 // which is what a shell counts in
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -S -c %d 2>/dev/null; exec "$@"`, blocks), "sh"}, args...)
}

// Stack returns the functions in which the server has died, innermost first, as far as the image of its memory says; none,
// if there is no image. What the stack holds is guessed: whatever looks like an address behind a call counts.
func (s *Server) Stack() []string {
	images, _ := filepath.Glob(filepath.Join(s.workFolder(), "core*"))
	for _, path := range images {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if _, stack, err := readCore(path); err == nil {
			return stack
		}
	}
	return nil
}

// Fallen returns which signal has ended a process that the server had forked, and the functions in which that was, innermost
// first, if such a process has ended since the last call and has left an image of its memory in the server's own folder. 0: none
// has, as far as is known.
func (s *Server) Fallen() (signal syscall.Signal, stack []string) {
	if s.quiet.ended == 0 || s.command.Dir != "" {
		return 0, nil
	}
	s.quiet.ended = 0
	images, _ := filepath.Glob(filepath.Join(s.place.Dir, "core*"))
	for _, path := range images {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if found, names, err := readCore(path); err == nil {
			signal, stack = found, names
			_ = os.Remove(path) // the next one is of another process
		}
	}
	return signal, stack
}

// workFolder is where the server was started.
func (s *Server) workFolder() string {
	if s.command.Dir == "" {
		return s.place.Dir
	}
	return s.place.fill(s.command.Dir)
}

// core is the memory image of a process: see core(5) and elf(5).
type core struct {
	file    *elf.File
	signal  syscall.Signal // that has ended it
	modules []module
	symbols map[string]*elf.File
}

// module is a part of a file that is mapped.
type module struct {
	from, to, offset uint64
	path             string
}

const (
	mostFrames = 6
	mostStack  = 16 << 10 // bytes of it that are looked at
	// ofStatus is where registers begin in the kernel's struct elf_prstatus.
	ofStatus = 112
)

var errNoCore = errors.New("it is no image of a process of this kind of machine")

func readCore(path string) (syscall.Signal, []string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	c := core{file: f, symbols: map[string]*elf.File{}}
	defer func() {
		for _, s := range c.symbols {
			if s != nil {
				s.Close()
			}
		}
	}()
	pc, sp, err := c.notes()
	if err != nil {
		return 0, nil, err
	}
	return c.signal, c.stack(pc, sp), nil
}

// notes reads the registers of the thread that died, which is the first, and what was mapped.
func (c *core) notes() (pc, sp uint64, err error) {
	pcAt, spAt := 0, 0
	switch c.file.Machine {
	case elf.EM_X86_64:
		pcAt, spAt = ofStatus+16*8, ofStatus+19*8
	case elf.EM_AARCH64:
		pcAt, spAt = ofStatus+32*8, ofStatus+31*8
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
	if pc == 0 || len(c.modules) == 0 {
		return 0, 0, errNoCore
	}
	return pc, sp, nil
}

// mapped reads which files were mapped where.
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
			c.modules = append(c.modules, module{order.Uint64(e), order.Uint64(e[8:]), order.Uint64(e[16:]) * page, names[i]})
		}
	}
}

// stack names the function of the program counter and those that have called it. Functions of libraries are left out where
// there are some of the program.
func (c *core) stack(pc, sp uint64) []string {
	var own, others []string
	add := func(address uint64, call bool) {
		name, mine := c.function(address, call)
		switch {
		case name == "", name == "_start":
		case mine && !slices.Contains(own, name):
			own = append(own, name)
		case !mine && !slices.Contains(others, name):
			others = append(others, name)
		}
	}
	add(pc, false)
	for _, p := range c.file.Progs {
		if p.Type != elf.PT_LOAD || sp < p.Vaddr || sp >= p.Vaddr+p.Filesz {
			continue
		}
		memory := make([]byte, min(mostStack, p.Vaddr+p.Filesz-sp))
		n, _ := p.ReadAt(memory, int64(sp-p.Vaddr))
		for at := 0; at+8 <= n && len(own) < mostFrames; at += 8 {
			add(c.file.ByteOrder.Uint64(memory[at:]), true)
		}
	}
	if len(own) > 0 {
		return own
	}
	return others[:min(len(others), mostFrames)]
}

// function returns the name of the function that an address is in, and whether it is the program's own. The address of a
// return has to have a call in front of it.
func (c *core) function(address uint64, call bool) (name string, own bool) {
	for _, m := range c.modules {
		if address < m.from || address >= m.to {
			continue
		}
		f := c.open(m.path)
		if f == nil {
			return "", false
		}
		offset := address - m.from + m.offset
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || offset < p.Off || offset >= p.Off+p.Filesz {
				continue
			}
			at := offset - p.Off + p.Vaddr
			if call && !called(f, p, at) {
				return "", false
			}
			if call { // a function that ends with a call does not have what is behind it
				at--
			}
			return symbolAt(f, m.path, at), m.path == c.modules[0].path
		}
		return "", false
	}
	return "", false
}

func (c *core) open(path string) *elf.File {
	f, known := c.symbols[path]
	if !known {
		f, _ = elf.Open(path) // nil if that fails
		c.symbols[path] = f
	}
	return f
}

// called reports whether the instruction before an address is a call.
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

// symbolAt names an address: by its symbol or, in a program without any, by its place.
func symbolAt(f *elf.File, path string, at uint64) string {
	symbols, err := f.Symbols()
	if err != nil {
		symbols, _ = f.DynamicSymbols()
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && at >= s.Value && at < s.Value+s.Size {
			return s.Name
		}
	}
	return fmt.Sprintf("%s+%#x", filepath.Base(path), at)
}
