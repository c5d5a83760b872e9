package forkserver

import (
	"fmt"
	"regexp"
	"strconv"
)

// Hello describes a fork server, as it does itself in the handshake.
type Hello struct {
	Dialect    int      // 0: no options are sent, as by AFL's own and afl-gcc's; 1: of AFL++ up to 4.10c; 2: since 4.20c
	MapSize    int      // size of the coverage map, in bytes
	Shared     bool     // inputs are passed in shared memory
	Tokens     []string // dictionary of the program; nil: none
	Deferred   bool     // the program starts the fork server itself
	Persistent bool     // a child runs many inputs
}

// Bits of the only word of the old dialect: see FS_OPT_* in AFL++'s include/types.h.
const (
	oldEnabled    = 0x80000001
	oldMapSize    = 0x40000000
	oldDictionary = 0x10000000
	oldShared     = 0x01000000
	oldError      = 0xf800008f
	oldNibble     = 0x0f000000 // all bits set: the build predates the meaning of these bits
	plainMapSize  = 1 << 16
)

// Words and bits of the new dialect: see FS_NEW_*.
const (
	newHello      = 0x41464c00
	newVersion    = 1
	newError      = 0xeffe0000
	newMapSize    = 1
	newShared     = 2
	newDictionary = 0x800
)

// maxDictionary is the longest dictionary that is accepted, in bytes.
const maxDictionary = 16 << 20

// ServerError is the error that a fork server reports when it cannot start. See FS_ERROR_*.
type ServerError struct{ Code int }

const errorMapSize = 1

func (e *ServerError) Error() string {
	switch e.Code {
	case errorMapSize:
		return "its coverage map is larger than the shared memory"
	case 2, 8, 16:
		return "it could not attach to the coverage map"
	case 4:
		return "it could not open the shared memory"
	case 32, 64:
		return "it is a cmplog build of an old version of AFL++: build it without cmplog"
	}
	return fmt.Sprintf("its fork server reports error %d", e.Code)
}

// hello performs the handshake. readWord and readBytes read from the server, writeWord writes to it.
func hello(readWord func() (uint32, error), readBytes func(n int) ([]byte, error), writeWord func(uint32) error) (Hello, error) {
	w, err := readWord()
	if err != nil {
		return Hello{}, err
	}
	switch {
	case w&0xffffff00 == newHello:
		return helloNew(w, readWord, readBytes, writeWord)
	case w&0xffff0000 == newError:
		return Hello{}, &ServerError{int(w & 0xffff)}
	case w&oldError == oldError:
		return Hello{}, &ServerError{int(w >> 8 & 0xffff)}
	case w&oldEnabled != oldEnabled:
		return Hello{MapSize: plainMapSize}, nil
	}
	return helloOld(w, readWord, readBytes, writeWord)
}

func helloOld(w uint32, readWord func() (uint32, error), readBytes func(n int) ([]byte, error), writeWord func(uint32) error) (h Hello, err error) {
	h = Hello{Dialect: 1, MapSize: plainMapSize}
	if w&oldNibble == oldNibble {
		w &^= oldNibble
	}
	if w&oldMapSize != 0 {
		h.MapSize = int(w&0x00fffffe>>1) + 1
	}
	accepted := w & (oldShared | oldDictionary)
	if accepted == 0 {
		return h, nil // the server does not wait for an answer
	}
	h.Shared = w&oldShared != 0
	if err := writeWord(oldEnabled | accepted); err != nil {
		return h, err
	}
	if w&oldDictionary != 0 {
		h.Tokens, err = readTokens(readWord, readBytes)
	}
	return h, err
}

func helloNew(w uint32, readWord func() (uint32, error), readBytes func(n int) ([]byte, error), writeWord func(uint32) error) (Hello, error) {
	h := Hello{Dialect: 2, MapSize: plainMapSize}
	if v := w & 0xff; v != newVersion {
		return h, fmt.Errorf("its fork server uses version %d of the protocol, expected %d: it was built with a later AFL++ than this teasel supports", v, newVersion)
	}
	if err := writeWord(^w); err != nil {
		return h, err
	}
	options, err := readWord()
	if err != nil {
		return h, err
	}
	if options&0xffff0000 == newError {
		return h, &ServerError{int(options & 0xffff)}
	}
	// Parameters follow in the order of their bits.
	if options&newMapSize != 0 {
		size, err := readWord()
		if err != nil {
			return h, err
		}
		h.MapSize = int(size)
	}
	h.Shared = options&newShared != 0
	if options&newDictionary != 0 {
		if h.Tokens, err = readTokens(readWord, readBytes); err != nil {
			return h, err
		}
	}
	last, err := readWord()
	if err == nil && last != w {
		err = fmt.Errorf("its fork server ended the handshake with %#x, expected %#x", last, w)
	}
	return h, err
}

// readTokens reads a dictionary: for each token its length in one byte, and its bytes.
func readTokens(readWord func() (uint32, error), readBytes func(n int) ([]byte, error)) (tokens []string, err error) {
	n, err := readWord()
	if err != nil {
		return nil, err
	}
	if n > maxDictionary {
		return nil, fmt.Errorf("its dictionary has %d bytes, expected at most %d", n, maxDictionary)
	}
	b, err := readBytes(int(n))
	for err == nil && len(b) > 0 {
		size := int(b[0])
		if b = b[1:]; size > len(b) {
			break // the last token is truncated
		}
		tokens, b = append(tokens, string(b[:size])), b[size:]
	}
	return tokens, err
}

var mapSizeRequest = regexp.MustCompile(`AFL_MAP_SIZE(?: to |=)(\d+)`)

// requestedMapSize returns the map size, in bytes, that a program asks for on standard error, 0 if it asks for none.
func requestedMapSize(stderr []byte) int {
	m := mapSizeRequest.FindSubmatch(stderr)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
