// Package shm makes the shared memory in which a target counts what it reaches.
package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Segment is System V shared memory. It is marked for removal from the start: the kernel frees it when the last process
// that has it is gone, however that goes. Linux lets others attach to such a segment all the same: see shmctl(2). One
// goroutine at a time may close it.
type Segment struct {
	ID    int
	Bytes []byte // zero at first; nil when it is closed
}

// New makes a segment of size bytes that processes may attach to as mode says, such as 0o600.
func New(size int, mode int) (*Segment, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|unix.IPC_EXCL|mode)
	if err != nil {
		return nil, fmt.Errorf("making %d bytes of shared memory: %w", size, err)
	}
	b, err := unix.SysvShmAttach(id, 0, 0)
	if _, removeErr := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err == nil && removeErr != nil {
		err = errors.Join(removeErr, unix.SysvShmDetach(b))
	}
	if err != nil {
		return nil, fmt.Errorf("attaching %d bytes of shared memory: %w", size, err)
	}
	return &Segment{id, b}, nil
}

// Close gives our end of the memory back. A nil segment is closed already.
func (s *Segment) Close() error {
	if s == nil || s.Bytes == nil {
		return nil
	}
	err := unix.SysvShmDetach(s.Bytes)
	s.Bytes = nil
	return err
}
