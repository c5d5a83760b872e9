package proc

import (
	"errors"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Ports are taken from below those that the kernel gives to our connections, of which there are thousands a second.
const (
	firstPort = 20000
	portCount = 12000
)

var portsTaken atomic.Uint32

// FreePort returns a port that can be bound on TCP and UDP now. Each call begins behind the one before.
func FreePort() (int, error) {
	for range portCount {
		port := firstPort + (os.Getpid()*64+int(portsTaken.Add(1)))%portCount
		if PortIsFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free")
}

// PortIsFree reports whether a port can be bound on TCP and UDP now.
func PortIsFree(port int) bool {
	return bindable(unix.SOCK_STREAM, port) && bindable(unix.SOCK_DGRAM, port)
}

func bindable(kind, port int) bool {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}
