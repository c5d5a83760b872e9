// Package shm makes the System V shared memory for the coverage counters of a target.
package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Segment is a System V shared memory segment. It is marked for removal from the start, so that the kernel frees it when the last
// attached process has ended, for whatever reason. On Linux other processes can still attach to such a segment: see shmctl(2).
// Close must not be called concurrently.
type Segment struct {
	ID    int
	Bytes []byte // initially zero; nil after Close
}

// New makes a segment of size bytes that processes may attach to with permissions mode, such as 0o600. The caller must call Close.
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

// Close detaches this process from the segment. Closing a nil or closed segment does nothing.
func (s *Segment) Close() error {
	if s == nil || s.Bytes == nil {
		return nil
	}
	err := unix.SysvShmDetach(s.Bytes)
	s.Bytes = nil
	return err
}
