package proc

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
)

// processSet holds the processes that exist at one moment: for each process number the inode of the folder in /proc. A process
// that reuses a number gets another inode, so that an equal inode in two sets means the same process. The inodes come with the
// list of the folder, whereas reading the start time of each process would take three system calls per process.
type processSet map[int]uint64

func newProcessSet() (processSet, error) {
	fd, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	defer syscall.Close(fd)
	all := processSet{}
	for buf := make([]byte, 16<<10); ; {
		n, err := syscall.ReadDirent(fd, buf)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, os.NewSyscallError("getdents64", err)
		case n == 0:
			return all, nil
		default:
			all.add(buf[:n])
		}
	}
}

// add adds the processes among the entries of a folder, in the format of getdents64(2).
func (all processSet) add(entries []byte) {
	const length, name = 16, 19 // offsets in an entry, which begins with the inode
	for order := binary.NativeEndian; len(entries) > name; {
		size := int(order.Uint16(entries[length:]))
		if size <= name || size > len(entries) {
			return
		}
		text, _, _ := bytes.Cut(entries[name:size], []byte{0})
		if pid, err := strconv.Atoi(string(text)); err == nil {
			all[pid] = order.Uint64(entries)
		}
		entries = entries[size:]
	}
}
