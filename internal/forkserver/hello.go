package forkserver

import (
	"fmt"
	"regexp"
	"strconv"
)

// Hello is what a server says of itself.
type Hello struct {
	Dialect  int      // 0: it gave no facts, as AFL's own and afl-gcc's do; 1: that up to 4.10c; 2: that since 4.20c
	MapSize  int      // bytes of its map that count
	Shared   bool     // it takes inputs from shared memory
	Tokens   []string // its dictionary
	Deferred bool     // it starts its server where the program says so
	Loops    bool     // a child runs many inputs
}

// The old dialect's one word: see FS_OPT_* in AFL++'s include/types.h.
const (
	oldEnabled    = 0x80000001
	oldMapSize    = 0x40000000
	oldDictionary = 0x10000000
	oldShared     = 0x01000000
	oldError      = 0xf800008f
	oldNibble     = 0x0f000000 // all of it set: a build that is older than what the bits mean
	plainMapSize  = 1 << 16
)

// The new one's: see FS_NEW_*.
const (
	newHello      = 0x41464c00
	newVersion    = 1
	newError      = 0xeffe0000
	newMapSize    = 1
	newShared     = 2
	newDictionary = 0x800
)

// maxDictionary bounds what is believed of a dictionary's length.
const maxDictionary = 16 << 20

// ServerError is what a server says when it cannot start. See FS_ERROR_*.
type ServerError struct{ Code int }

const errorMapSize = 1

func (e *ServerError) Error() string {
	switch e.Code {
	case errorMapSize:
		return "it wants more coverage map than it was given"
	case 2, 8, 16:
		return "it could not attach to the coverage map"
	case 4:
		return "it could not open the shared memory"
	case 32, 64:
		return "it is a cmplog build of an old version: build it without cmplog"
	}
	return fmt.Sprintf("its server reports error %d", e.Code)
}

// hello hears the server out and answers. word and data read from it, say writes to it.
func hello(word func() (uint32, error), data func(n int) ([]byte, error), say func(uint32) error) (Hello, error) {
	w, err := word()
	if err != nil {
		return Hello{}, err
	}
	switch {
	case w&0xffffff00 == newHello:
		return hearNew(w, word, data, say)
	case w&0xffff0000 == newError:
		return Hello{}, &ServerError{int(w & 0xffff)}
	case w&oldError == oldError:
		return Hello{}, &ServerError{int(w >> 8 & 0xffff)}
	case w&oldEnabled != oldEnabled:
		return Hello{MapSize: plainMapSize}, nil
	}
	return hearOld(w, word, data, say)
}

func hearOld(w uint32, word func() (uint32, error), data func(n int) ([]byte, error), say func(uint32) error) (h Hello, err error) {
	h = Hello{Dialect: 1, MapSize: plainMapSize}
	if w&oldNibble == oldNibble {
		w &^= oldNibble
	}
	if w&oldMapSize != 0 {
		h.MapSize = int(w&0x00fffffe>>1) + 1
	}
	accepted := w & (oldShared | oldDictionary)
	if accepted == 0 {
		return h, nil // it does not wait for an answer
	}
	h.Shared = w&oldShared != 0
	if err := say(oldEnabled | accepted); err != nil {
		return h, err
	}
	if w&oldDictionary != 0 {
		h.Tokens, err = hearTokens(word, data)
	}
	return h, err
}

func hearNew(w uint32, word func() (uint32, error), data func(n int) ([]byte, error), say func(uint32) error) (Hello, error) {
	h := Hello{Dialect: 2, MapSize: plainMapSize}
	if v := w & 0xff; v != newVersion {
		return h, fmt.Errorf("its server speaks version %d of the protocol, and only %d is known here: teasel is older than it", v, newVersion)
	}
	if err := say(^w); err != nil {
		return h, err
	}
	options, err := word()
	if err != nil {
		return h, err
	}
	if options&0xffff0000 == newError {
		return h, &ServerError{int(options & 0xffff)}
	}
	// Parameters come in the order of their bits.
	if options&newMapSize != 0 {
		size, err := word()
		if err != nil {
			return h, err
		}
		h.MapSize = int(size)
	}
	h.Shared = options&newShared != 0
	if options&newDictionary != 0 {
		if h.Tokens, err = hearTokens(word, data); err != nil {
			return h, err
		}
	}
	last, err := word()
	if err == nil && last != w {
		err = fmt.Errorf("its server ended the greeting with %#x, expected %#x", last, w)
	}
	return h, err
}

// hearTokens reads a dictionary: the length of a token in a byte, and the token.
func hearTokens(word func() (uint32, error), data func(n int) ([]byte, error)) (tokens []string, err error) {
	n, err := word()
	if err != nil {
		return nil, err
	}
	if n > maxDictionary {
		return nil, fmt.Errorf("its dictionary has %d bytes, expected at most %d", n, maxDictionary)
	}
	b, err := data(int(n))
	for err == nil && len(b) > 0 {
		size := int(b[0])
		if b = b[1:]; size > len(b) {
			break // the rest was cut off
		}
		tokens, b = append(tokens, string(b[:size])), b[size:]
	}
	return tokens, err
}

var sizeWanted = regexp.MustCompile(`AFL_MAP_SIZE(?: to |=)(\d+)`)

// wanted returns the size of map that a program asks for on standard error, 0 if it does not.
func wanted(stderr []byte) int {
	m := sizeWanted.FindSubmatch(stderr)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
