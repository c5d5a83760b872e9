package shm

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A segment is marked for removal at once, and others can attach to it all the same.
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
		t.Error("what another process writes is not seen")
	}
	if err := errors.Join(unix.SysvShmDetach(other), s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := unix.SysvShmAttach(s.ID, 0, 0); err == nil {
		t.Error("the segment is still there after everybody has closed it")
	}
	if err := (*Segment)(nil).Close(); err != nil {
		t.Error(err)
	}
}
