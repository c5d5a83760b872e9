package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// End says whether a connection can still be used.
type End uint8

// The ends of a connection.
const (
	EndInvalid End = iota
	EndOpen        // the server may say more
	EndClosed      // it has said that it will say no more
	EndReset       // it, or the kernel for it, has broken the connection off
)

var endNames = [...]string{"invalid", "open", "closed", "reset"}

func (e End) String() string {
	if int(e) < len(endNames) {
		return endNames[e]
	}
	return "end?"
}

// flood is how much is read at a time: a server that says more without being asked never stops.
const flood = 1 << 20

// Connection is one conversation with a server. Sending and receiving never wait. One goroutine at a time uses it.
type Connection struct {
	in, out int // file descriptors, the same one for sockets
	network Network
	tls     *tls.Conn
	end     End
	chunk   []byte
	ends    []int         // of datagrams, see Ends
	peer    unix.Sockaddr // that datagrams go to where that may change; nil: the socket is connected
}

// Dial connects to an address, which must have no placeholders. A refusal comes as an error that [Refused] knows.
func Dial(ctx context.Context, a Address, limit time.Duration) (*Connection, error) {
	return (*namespace)(nil).dial(ctx, a, nil, limit)
}

// dial connects to an address in the namespace, from another one if from is not nil.
func (n *namespace) dial(ctx context.Context, a Address, from unix.Sockaddr, limit time.Duration) (*Connection, error) {
	family, to, err := resolve(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("connecting to %v: %w", a, err)
	}
	kind := unix.SOCK_STREAM
	if a.Network == UDP {
		kind = unix.SOCK_DGRAM
	}
	fd, err := n.socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("connecting to %v: %w", a, err)
	}
	c := &Connection{in: fd, out: fd, network: a.Network, end: EndOpen}
	if from != nil {
		if err := unix.Bind(fd, from); err != nil {
			return nil, errors.Join(fmt.Errorf("connecting to %v from another address: %w", a, err), c.Close())
		}
	}
	if a.Network == TCP || a.Network == TLS {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // each message is to arrive by itself
	}
	if a.Network == UDP && a.Follow {
		c.peer = to
		return c, nil
	}
	err = connect(ctx, fd, to, limit)
	if a.Network == TCP && errors.Is(err, unix.ECONNRESET) { // it was taken, and broken off before we looked
		c.end = EndReset
		return c, nil
	}
	if err == nil && a.Network == TLS {
		err = c.handshake(ctx, a.Host, limit)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %v: %w", a, err), c.Close())
	}
	return c, nil
}

// Refused reports whether an error of [Dial] says that nobody listens, or that the server would not take the connection.
func Refused(err error) bool {
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EPIPE)
}

// resolve returns the address as the kernel takes it. A name is looked up where it is not one of this machine.
func resolve(ctx context.Context, a Address) (family int, to unix.Sockaddr, err error) {
	if a.Network == Unix {
		return unix.AF_UNIX, &unix.SockaddrUnix{Name: a.Path}, nil
	}
	ip, err := netip.ParseAddr(a.Host)
	if a.Host == "localhost" {
		ip, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	if err != nil {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", a.Host)
		if err != nil {
			return 0, nil, err
		}
		ip = found[0].Unmap()
	}
	port, err := net.LookupPort("tcp", a.Port)
	if err != nil {
		return 0, nil, err
	}
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: ip.As4()}, nil
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: ip.As16()}, nil
}

// backlogLook is the time between two looks whether a full backlog has room.
const backlogLook = time.Millisecond

func connect(ctx context.Context, fd int, to unix.Sockaddr, limit time.Duration) error {
	err := unix.Connect(fd, to)
	// A Unix socket whose backlog is full says EAGAIN, and nothing tells when there is room.
	for deadline := time.Now().Add(limit); errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN); err = unix.Connect(fd, to) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(deadline):
			return os.ErrDeadlineExceeded
		}
		time.Sleep(backlogLook)
	}
	if !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	if err := waitFor(ctx, fd, unix.POLLOUT, limit); err != nil {
		return err
	}
	if n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || n != 0 {
		return errors.Join(err, unix.Errno(n))
	}
	return nil
}

// lookEvery is how long the kernel is asked to wait before we look whether anybody still wants to know.
const lookEvery = 50 * time.Millisecond

// waitFor returns when a descriptor is ready, os.ErrDeadlineExceeded when the time is over, or the context's error.
func waitFor(ctx context.Context, fd int, events int16, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		left := time.Until(deadline)
		if left < 0 {
			return os.ErrDeadlineExceeded
		}
		wait := unix.NsecToTimespec(int64(min(left, lookEvery)))
		n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: events}}, &wait, nil)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case n > 0:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

func (c *Connection) handshake(ctx context.Context, host string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw := &rawConn{c: c, wait: func(events int16) error { return waitFor(ctx, c.in, events, limit) }}
	t := tls.Client(raw, &tls.Config{ServerName: host, InsecureSkipVerify: true}) // the user named this server, and fuzzes it
	if err := t.HandshakeContext(ctx); err != nil {
		return &HandshakeError{err}
	}
	raw.wait, c.tls = nil, t
	return nil
}

// End says whether the server can still be heard.
func (c *Connection) End() End { return c.end }

// Send sends as much of b as the kernel takes now, and returns how much that was. A connection that the server has broken
// off takes nothing; [Connection.End] says so then. An empty datagram is sent as well.
func (c *Connection) Send(b []byte) (n int, err error) {
	switch {
	case c.tls != nil:
		n, err = c.tls.Write(b)
	case c.peer != nil:
		if err = unix.Sendto(c.out, b, 0, c.peer); err == nil {
			n = len(b)
		}
	default:
		n, err = unix.Write(c.out, b)
	}
	if n < 0 {
		n = 0
	}
	switch {
	case err == nil, errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, os.ErrDeadlineExceeded):
		return n, nil
	case errors.Is(err, unix.EMSGSIZE), errors.Is(err, unix.ENOBUFS):
		return len(b), nil // no datagram is so long: it is lost, as on any network
	case gone(err):
		c.end = EndReset
		return n, nil
	}
	return n, fmt.Errorf("sending: %w", err)
}

func gone(err error) bool {
	var alert tls.AlertError
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ECONNREFUSED) ||
		errors.Is(err, unix.ECONNABORTED) || errors.Is(err, unix.ENOTCONN) || errors.Is(err, net.ErrClosed) || errors.As(err, &alert)
}

// chunkSize is how much one system call reads.
const chunkSize = 64 << 10

// Receive appends what has come to dst, at most a megabyte more than there is. over says that there is still more.
func (c *Connection) Receive(dst []byte) (_ []byte, over bool, err error) {
	if c.chunk == nil {
		c.chunk = make([]byte, chunkSize)
	}
	acknowledged := false
	c.ends = c.ends[:0]
	for room := len(dst) + flood; c.end == EndOpen; {
		if len(dst) >= room {
			return dst, true, nil
		}
		n, err := c.read(c.chunk)
		dst = append(dst, c.chunk[:max(n, 0)]...)
		switch {
		case n > 0:
			if acknowledged = false; c.network == UDP {
				c.ends = append(c.ends, len(dst))
			}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
			if acknowledged || !c.acknowledge() {
				return dst, false, nil
			}
			acknowledged = true
		case err == nil && c.network == UDP: // an empty datagram
		case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			c.end = EndClosed
		case gone(err) && c.network == UDP: // nobody listens, for now
			c.end = EndReset
		case gone(err), c.tls != nil:
			c.end = EndReset
		default:
			return dst, false, fmt.Errorf("receiving: %w", err)
		}
	}
	return dst, false, nil
}

// Ends returns where each datagram of the last Receive ends in what that has returned. It is good until the next one; nil for streams.
func (c *Connection) Ends() []int { return c.ends }

// acknowledge has the kernel acknowledge now what has come, and reports whether more may come of that: a server's kernel keeps a small
// piece back until the one before is acknowledged (RFC 896), which ours would put off by up to 40 ms.
func (c *Connection) acknowledge() bool {
	return (c.network == TCP || c.network == TLS) && unix.SetsockoptInt(c.in, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) == nil
}

func (c *Connection) read(b []byte) (int, error) {
	if c.tls != nil {
		return c.tls.Read(b)
	}
	if c.peer != nil {
		return c.readFrom(b)
	}
	return unix.Read(c.in, b)
}

// readFrom reads a datagram and has later ones go where it came from. Those of other hosts are nothing to us.
func (c *Connection) readFrom(b []byte) (int, error) {
	for {
		n, from, err := unix.Recvfrom(c.in, b, 0)
		if err != nil {
			return n, err
		}
		if sameHost(from, c.peer) {
			c.peer = from
			return n, nil
		}
	}
}

func sameHost(a, b unix.Sockaddr) bool {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		b, ok := b.(*unix.SockaddrInet4)
		return ok && a.Addr == b.Addr
	case *unix.SockaddrInet6:
		b, ok := b.(*unix.SockaddrInet6)
		return ok && a.Addr == b.Addr
	}
	return false
}

// Await returns when there is something to receive, os.ErrDeadlineExceeded when the time is over, or the context's error.
func (c *Connection) Await(ctx context.Context, limit time.Duration) error {
	return waitFor(ctx, c.in, unix.POLLIN, limit)
}

// AwaitRoom returns when the kernel takes more of what is to be sent, or there is something to receive, which the server may want to
// be rid of first. It returns os.ErrDeadlineExceeded when the time is over, or the context's error.
func (c *Connection) AwaitRoom(ctx context.Context, limit time.Duration) error {
	if c.in != c.out {
		return waitFor(ctx, c.out, unix.POLLOUT, limit)
	}
	return waitFor(ctx, c.in, unix.POLLIN|unix.POLLOUT, limit)
}

// Close ends the conversation.
func (c *Connection) Close() error {
	if c.in < 0 {
		return nil
	}
	if c.tls != nil && c.end == EndOpen {
		_ = c.tls.CloseWrite() // the server may be gone
	}
	err := unix.Close(c.in)
	if c.out != c.in { // the server reads from another pipe than it writes to
		err = errors.Join(err, unix.Close(c.out))
	}
	c.in, c.out = -1, -1
	if c.end == EndOpen {
		c.end = EndClosed
	}
	return err
}

// rawConn is the connection as package tls wants it. It waits for the server during the handshake alone: after that it says
// that the time is over.
type rawConn struct {
	c    *Connection
	wait func(events int16) error // nil: the handshake is over
}

var _ net.Conn = (*rawConn)(nil)

func (r *rawConn) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(r.c.in, b)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EAGAIN):
			return 0, err
		case r.wait == nil:
			return 0, os.ErrDeadlineExceeded
		default:
			if err := r.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		}
	}
}

// writeTime is how long a server may leave an encrypted record, which cannot be taken back, in the kernel's buffers.
const writeTime = time.Second

func (r *rawConn) Write(b []byte) (n int, err error) {
	for n < len(b) {
		m, err := unix.Write(r.c.out, b[n:])
		n += max(m, 0)
		if err == nil || errors.Is(err, unix.EINTR) {
			continue
		}
		if !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if fds := []unix.PollFd{{Fd: int32(r.c.out), Events: unix.POLLOUT}}; r.wait != nil {
			err = r.wait(unix.POLLOUT)
		} else if ready, _ := unix.Poll(fds, int(writeTime.Milliseconds())); ready == 0 {
			err = unix.EPIPE
		} else {
			err = nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (r *rawConn) Close() error                     { return nil }
func (r *rawConn) LocalAddr() net.Addr              { return nil }
func (r *rawConn) RemoteAddr() net.Addr             { return nil }
func (r *rawConn) SetDeadline(time.Time) error      { return nil }
func (r *rawConn) SetReadDeadline(time.Time) error  { return nil }
func (r *rawConn) SetWriteDeadline(time.Time) error { return nil }
