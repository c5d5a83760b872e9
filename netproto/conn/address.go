package conn

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/internal/loopback"
)

// Network is how a server is reached.
type Network uint8

// The networks.
const (
	NetworkInvalid Network = iota
	TCP
	UDP
	Unix  // a stream socket in the file system
	TLS   // over TCP; certificates are not verified
	Stdio // the command's standard input and output: a connection is a process
)

var networkNames = [...]string{"invalid", "tcp", "udp", "unix", "tls", "stdio"}

func (n Network) String() string {
	if int(n) < len(networkNames) {
		return networkNames[n]
	}
	return "network?"
}

// Address is where a server listens. Host, Port and Path may hold placeholders until [Address.At] fills them in.
type Address struct {
	Network Network
	Host    string
	Port    string
	Path    string // of a Unix socket
	Follow  bool   // over UDP: after an answer datagrams go to the port that it came from, on the same host
}

// ParseAddress reads HOST:PORT, which is TCP, tcp://HOST:PORT, udp://HOST:PORT, tls://HOST:PORT, unix:PATH or stdio. The port
// may be {port}, and PATH may have {socket} or {dir} in it.
func ParseAddress(text string) (Address, error) {
	fail := func(why string) (Address, error) {
		return Address{}, fmt.Errorf("address %q: %s; expected HOST:PORT, udp://HOST:PORT, tls://HOST:PORT, unix:PATH or stdio", text, why)
	}
	if text == "stdio" {
		return Address{Network: Stdio}, nil
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if path, found := strings.CutPrefix(text, "unix:"); found {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return fail("the path is missing")
		}
		return Address{Network: Unix, Path: path}, nil
	}
	if !ok {
		scheme, rest = "tcp", text
	}
	a := Address{}
	switch scheme {
	case "tcp":
		a.Network = TCP
	case "udp":
		a.Network = UDP
	case "tls":
		a.Network = TLS
	default:
		return fail(fmt.Sprintf("network %q is not known", scheme))
	}
	var err error
	if a.Host, a.Port, err = net.SplitHostPort(rest); err != nil {
		return fail("there is no port in it")
	}
	if a.Host == "" {
		a.Host = "127.0.0.1"
	}
	if n, err := strconv.Atoi(a.Port); a.Port != "{port}" && (err != nil || n < 1 || n > 65535) {
		return fail(fmt.Sprintf("%q is no port", a.Port))
	}
	return a, nil
}

// String returns the address as [ParseAddress] reads it.
func (a Address) String() string {
	switch a.Network {
	case Stdio:
		return "stdio"
	case Unix:
		return "unix:" + a.Path
	}
	return a.Network.String() + "://" + net.JoinHostPort(a.Host, a.Port)
}

// Loopback reports whether nothing that is sent there leaves this machine.
func (a Address) Loopback() bool {
	return a.Network == Unix || a.Network == Stdio || loopback.Host(a.Host)
}

// At fills in the placeholders.
func (a Address) At(p Place) Address {
	a.Port, a.Path = p.fill(a.Port), p.fill(a.Path)
	return a
}

// Own reports whether each server can have an address of its own.
func (a Address) Own() bool {
	return a.Network == Stdio || strings.Contains(a.Port+a.Path, "{")
}
