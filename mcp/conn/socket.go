package conn

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// A socket is a connection that can be looked at while nothing is on it.
type socket struct{ net.Conn }

// stale reports whether the server has closed the socket, or has sent something since it was read to its end. What it has closed with is
// in there too where it is encrypted.
func (s *socket) stale() bool {
	c := s.Conn
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	system, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return true
	}
	waits := false
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		waits = err == unix.EAGAIN
		return true
	})
	return err != nil || !waits
}
