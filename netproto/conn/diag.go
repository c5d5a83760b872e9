package conn

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kernel's tables of sockets are text that begins with those that listen, but to come to its end it looks through all the
// room that it has for connections, which takes many milliseconds. Over netlink it can be asked for some only: see sock_diag(7).
const (
	diagRequest  = 56 // bytes of a struct inet_diag_req_v2
	diagResponse = 72 // of a struct inet_diag_msg
	diagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	stateListen  = 10 // of TCP
	stateClose   = 7  // of TCP, and of a socket of UDP without a peer
)

// diagnosed returns the sockets of a protocol that are in a state, of both families of addresses.
func (n *namespace) diagnosed(protocol byte, state uint) (all []socket, err error) {
	fd, err := n.socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	for _, family := range [...]byte{unix.AF_INET, unix.AF_INET6} {
		if all, err = askSockets(fd, all, family, protocol, state); err != nil {
			return nil, fmt.Errorf("asking the kernel for sockets: %w", err)
		}
	}
	return all, nil
}

func askSockets(fd int, all []socket, family, protocol byte, state uint) ([]socket, error) {
	request := make([]byte, syscall.NLMSG_HDRLEN+diagRequest)
	order := binary.NativeEndian
	order.PutUint32(request, uint32(len(request)))
	order.PutUint16(request[4:], diagByFamily)
	order.PutUint16(request[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	body := request[syscall.NLMSG_HDRLEN:]
	body[0], body[1] = family, protocol
	order.PutUint32(body[4:], 1<<state)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	for buf := make([]byte, 32<<10); ; {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == syscall.NLMSG_DONE:
				return all, nil
			case m.Header.Type == syscall.NLMSG_ERROR:
				return nil, unix.EOPNOTSUPP // a kernel without it, or one that does not let us
			case m.Header.Type == diagByFamily && len(m.Data) >= diagResponse:
				all = append(all, socket{
					port:  int(binary.BigEndian.Uint16(m.Data[4:])),
					inode: strconv.FormatUint(uint64(order.Uint32(m.Data[diagResponse-4:])), 10),
				})
			}
		}
	}
}
