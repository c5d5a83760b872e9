// Package blocks says which function, file and line each coverage counter of a program stands for.
package blocks

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Block is the code that one counter counts. The zero value is one of which nothing is known.
type Block struct {
	Function string // the innermost inlined one
	File     string // "": there is no debug information
	Line     int
}

var errNoTable = errors.New("it has no table of its counters: they are not clang's")

// Clang returns the blocks of a program that clang has instrumented with -fsanitize-coverage=pc-table, in the order of its counters.
func Clang(path string) ([]Block, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	defer f.Close()
	section := f.Section("__sancov_pcs")
	if section == nil {
		return nil, errNoTable
	}
	table, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("reading the table of counters: %w", err)
	}
	// Of a program that can be loaded anywhere, the addresses may be in its relocations alone.
	if all := f.Section(".rela.dyn"); all != nil && f.Class == elf.ELFCLASS64 {
		text, err := all.Data()
		if err != nil {
			return nil, fmt.Errorf("reading the relocations: %w", err)
		}
		for ; len(text) >= 24; text = text[24:] {
			at, addend := f.ByteOrder.Uint64(text)-section.Addr, f.ByteOrder.Uint64(text[16:])
			if kind := f.ByteOrder.Uint64(text[8:]); at+8 <= uint64(len(table)) && at%16 == 0 && (kind == uint64(elf.R_X86_64_RELATIVE) || kind == uint64(elf.R_AARCH64_RELATIVE)) {
				f.ByteOrder.PutUint64(table[at:], addend)
			}
		}
	}
	var addresses []uint64
	for ; len(table) >= 16; table = table[16:] {
		addresses = append(addresses, f.ByteOrder.Uint64(table))
	}
	return resolve(f, addresses)
}

// Go returns the blocks of a program that the Go compiler has instrumented with -d=libfuzzer, in the order of its counters. There is no
// table of them: the code is searched for the instructions that read them, which is done for amd64 only.
func Go(path string) ([]Block, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return nil, fmt.Errorf("its counters are found in code for amd64 only, and it is for %v", f.Machine)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("reading the symbols: %w", err)
	}
	var first, last uint64
	for _, s := range symbols {
		switch s.Name {
		case "runtime.__start___sancov_cntrs":
			first = s.Value
		case "runtime.__stop___sancov_cntrs":
			last = s.Value
		}
	}
	text := f.Section(".text")
	if text == nil || first == 0 || last <= first {
		return nil, errors.New("it has no counters")
	}
	code, err := text.Data()
	if err != nil {
		return nil, fmt.Errorf("reading the code: %w", err)
	}
	addresses := make([]uint64, last-first)
	// MOVZX disp32(IP), r32 is 0f b6, a byte 00rrr101, and the distance from the next instruction.
	for i := 0; i+7 <= len(code); i++ {
		if code[i] != 0x0f || code[i+1] != 0xb6 || code[i+2]&0xc7 != 0x05 {
			continue
		}
		to := text.Addr + uint64(i) + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+3:])))) - first
		if to < uint64(len(addresses)) && addresses[to] == 0 {
			addresses[to] = text.Addr + uint64(i)
		}
	}
	return resolve(f, addresses)
}

// resolve returns the blocks at these addresses, of which 0 stands for one that is not known.
func resolve(f *elf.File, addresses []uint64) ([]Block, error) {
	known := slices.DeleteFunc(slices.Clone(addresses), func(a uint64) bool { return a == 0 })
	slices.Sort(known)
	known = slices.Compact(known)
	found := make([]Block, len(known))
	name(f, known, found)
	f.Type = elf.ET_EXEC // for other types package elf would apply relocations, which the linker mold keeps, a second time
	if d, err := f.DWARF(); err == nil {
		place(d, known, found)
		if info := f.Section(".debug_info"); info != nil && info.Size <= mostDebug {
			inline(d, known, found)
		}
	}
	all := make([]Block, len(addresses))
	for i, a := range addresses {
		if at, ok := slices.BinarySearch(known, a); ok {
			all[i] = found[at]
		}
	}
	return all, nil
}
