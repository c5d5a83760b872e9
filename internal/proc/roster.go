package proc

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
)

// roster is which processes there are at one moment: by number, the inode of the folder in /proc. The kernel makes another inode
// for another process of the same number, so that who is in a roster with the same inode as before is still the same. To know that
// costs nothing beyond the list, where asking each process when it began takes three system calls.
type roster map[int]uint64

func newRoster() (roster, error) {
	fd, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	defer syscall.Close(fd)
	all := roster{}
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

// add takes in entries of a folder as getdents64(2) gives them.
func (all roster) add(entries []byte) {
	const length, name = 16, 19 // where they are, behind the inode
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
