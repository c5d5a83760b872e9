package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// reserveSlots: crash-at-int32-max. The next free slot is counted in 32 bits.
func reserveSlots(quantity int) {
	next := int32(quantity) + 1
	_ = make([]byte, next>>28)
}

// closeTitle: crash-at-length-256. The zero behind a title of full length is out of range.
func closeTitle(title string) {
	var frame [256]byte
	n := copy(frame[:], title)
	frame[n] = 0
}

// average: crash-after-reply. The caller has replied already.
func (t *traces) average(stars, weight int) {
	t.rating = stars * 100 / weight
}

// exitOnNothing: silent-exit.
func exitOnNothing(format string, items []string) {
	if format == "legacy" && len(items) == 0 {
		os.Exit(1)
	}
}

// assertIndex: crash-by-assertion, as a C program would die of one.
func assertIndex(index int) {
	if index >= 0 {
		return
	}
	fmt.Fprintln(os.Stderr, "planted: notes.c:42: insert: Assertion `index >= 0' failed.")
	dieBySignal(syscall.SIGABRT)
}

// dieAtWidth: crash-by-signal.
func dieAtWidth(width int) {
	if width == 4096 {
		dieBySignal(syscall.SIGSEGV)
	}
}

// outOfMemoryAt: out-of-memory. It dies with the words and the status of Go's runtime, but takes no memory for it.
func outOfMemoryAt(rows int) {
	if rows == 1_000_000 {
		fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory: cannot allocate 1099511627776-byte block (4194304 in use)")
		os.Exit(2)
	}
}

// diskCache: deep-condition.
func diskCache(level int, tags []string) {
	var index map[string]int
	for _, tag := range tags {
		//lint:ignore SA5000 this is the bug
		index[tag] = level
	}
}

// appendAfterClose: use-after-close. Closing has freed the buffer.
func (st *store) appendAfterClose(handle string) {
	if d := st.documents[handle]; d != nil && d.closed {
		var buffer *strings.Builder
		buffer.WriteString(d.name)
	}
}

// closeTwice: double-close.
func (st *store) closeTwice(handle string) {
	d := st.documents[handle]
	if d == nil {
		return
	}
	if d.done == nil {
		d.done = make(chan struct{})
	}
	close(d.done)
}

// exitOnOddID: exit-on-odd-id. The decoder's error ends the session, and nothing tells why.
func exitOnOddID(id value) {
	if id.isObject() || id.isArray() {
		os.Exit(0)
	}
}

// nameCarelessly: exception-in-error. It answers with what the runtime says of an index that is out of range.
func nameCarelessly(names []string, at int) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = refuse(fmt.Sprint("internal error: ", r))
		}
	}()
	return say(names[at])
}
