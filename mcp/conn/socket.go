package conn

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A socket is a connection that can be looked at while nothing is on it.
type socket struct {
	net.Conn
	reads atomic.Bool // the link waits for something to read
}

func (s *socket) Read(b []byte) (int, error) {
	s.reads.Store(true)
	defer s.reads.Store(false)
	return s.Conn.Read(b)
}

// raw returns the connection of the system; nil: there is none.
func (s *socket) raw() (syscall.RawConn, error) {
	c := s.Conn
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if system, ok := c.(syscall.Conn); ok {
		return system.SyscallConn()
	}
	return nil, nil
}

// stale reports whether the server has closed the socket, or has sent something since it was read to its end. What it has closed with is
// in there too where it is encrypted.
func (s *socket) stale() bool {
	raw, err := s.raw()
	if raw == nil {
		return err != nil
	}
	waits := false
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		waits = err == unix.EAGAIN
		return true
	})
	return err != nil || !waits
}

// moves reports whether something is on its way: the server's system does not have all that was written yet, or what has come was not read
// or not passed on. On a busy machine that may last.
func (s *socket) moves() bool {
	if !s.reads.Load() {
		return true
	}
	raw, err := s.raw()
	if raw == nil || err != nil {
		return false
	}
	in, out := 0, 0
	err = raw.Control(func(fd uintptr) {
		in, _ = unix.IoctlGetInt(int(fd), unix.SIOCINQ)
		out, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	})
	return err == nil && in+out > 0
}
