package clang

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

// HookCalls returns the addresses, as assigned by the linker, of the operands of a program's calls of the comparison hooks. It reads
// them from the relocations that the linker has kept. It returns nil if there are none, or if the program is not for x86-64.
func HookCalls(path string) (calls []uint64) {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil || f.Machine != elf.EM_X86_64 {
		return nil
	}
	const relocation = 24 // bytes of an Elf64_Rela
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || int(s.Info) >= len(f.Sections) || f.Sections[s.Info].Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return nil
		}
		for ; len(b) >= relocation; b = b[relocation:] {
			info := binary.LittleEndian.Uint64(b[8:])
			kind, symbol := elf.R_X86_64(info&0xffffffff), int(info>>32)
			if kind != elf.R_X86_64_PLT32 && kind != elf.R_X86_64_PC32 || symbol == 0 || symbol > len(symbols) {
				continue
			}
			if name := symbols[symbol-1].Name; strings.HasPrefix(name, "__sanitizer_cov_trace_") {
				calls = append(calls, binary.LittleEndian.Uint64(b))
			}
		}
	}
	return calls
}
