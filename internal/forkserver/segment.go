package forkserver

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// segment is System V shared memory. It has no owner from the start: the kernel frees it when the last process that has
// it is gone, however that goes. Linux lets others attach to such a one all the same: see shmctl(2).
type segment struct {
	id    int
	bytes []byte
}

func newSegment(size int) (*segment, error) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	if err != nil {
		return nil, fmt.Errorf("making %d bytes of shared memory: %w", size, err)
	}
	b, err := unix.SysvShmAttach(id, 0, 0)
	if _, removeErr := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err == nil && removeErr != nil {
		unix.SysvShmDetach(b)
		err = removeErr
	}
	if err != nil {
		return nil, fmt.Errorf("attaching %d bytes of shared memory: %w", size, err)
	}
	return &segment{id, b}, nil
}

func (s *segment) close() error {
	if s == nil || s.bytes == nil {
		return nil
	}
	err := unix.SysvShmDetach(s.bytes)
	s.bytes = nil
	return err
}
