package triage

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
)

// Stopped returns the functions that are active in a thread of a process that is stopped and that the calling thread traces, innermost first,
// with the instruction and the stack pointer. set is the kernel's struct with its registers. Where the programs do not say how to find the
// functions, they are a guess.
func (s *Symbols) Stopped(thread int, set []byte) (stack Stack, pc, sp uint64, err error) {
	p := process{machine: map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH], order: binary.LittleEndian}
	ok := false
	if p.registers, ok = registerSet(p.machine, p.order, set); !ok {
		return nil, 0, 0, fmt.Errorf("reading the stack of process %d: it runs on an unsupported machine", thread)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", thread))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("reading the stack: %w", err)
	}
	defer memory.Close()
	if p.mappings, err = mappingsOf(thread); err != nil {
		return nil, 0, 0, fmt.Errorf("reading the stack: %w", err)
	}
	p.read = func(b []byte, at uint64) int {
		n, _ := memory.ReadAt(b, int64(at)) // 0 if it is not mapped
		return n
	}
	if len(p.mappings) > 0 {
		stack = p.stack(s)
	}
	return stack, p.registers.pc, p.registers.stack(), nil
}
