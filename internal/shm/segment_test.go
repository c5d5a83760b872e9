package shm

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSegment: a segment is marked for removal from the start, and other processes can still attach to it.
func TestSegment(t *testing.T) {
	s, err := New(1<<20, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	other, err := unix.SysvShmAttach(s.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	other[1<<20-1] = 1
	if s.Bytes[1<<20-1] != 1 {
		t.Error("a write through another attachment is not visible")
	}
	if err := errors.Join(unix.SysvShmDetach(other), s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := unix.SysvShmAttach(s.ID, 0, 0); err == nil {
		t.Error("the segment still exists after the last process has detached")
	}
	if err := (*Segment)(nil).Close(); err != nil {
		t.Error(err)
	}
}
