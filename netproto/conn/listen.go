package conn

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A socket is one that the kernel lists as waiting for others to speak first.
type socket struct {
	port  int    // 0 of a Unix socket
	path  string // "" of others
	inode string
}

// listeners returns the sockets of a kind of network that listen, those of UDP that are bound.
func (n *namespace) listeners(kind Network) (all []socket) {
	switch kind {
	case Unix:
		for _, f := range table(n.file("net/unix"), nil) {
			if len(f) >= 8 && f[3] == "00010000" { // accepts connections
				all = append(all, socket{path: f[7], inode: f[6]})
			}
		}
		return all
	case UDP:
		if all, err := n.diagnosed(unix.IPPROTO_UDP, stateClose); err == nil {
			return all
		}
		return append(bound(n.file("net/udp"), "07"), bound(n.file("net/udp6"), "07")...)
	}
	if all, err := n.diagnosed(unix.IPPROTO_TCP, stateListen); err == nil {
		return all
	}
	return append(bound(n.file("net/tcp"), "0A"), bound(n.file("net/tcp6"), "0A")...)
}

// bound reads one of the kernel's tables: see proc_net(5). Those of TCP begin with the sockets that listen.
func bound(file, state string) (all []socket) {
	for _, f := range table(file, func(line []byte) bool { return state == "07" || bytes.Contains(line, []byte(" 0A ")) }) {
		if len(f) < 10 || f[3] != state {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
			all = append(all, socket{port: int(port), inode: f[9]})
		}
	}
	return all
}

// table returns the fields of the lines of a file, the heading left out, up to the first line of which more says no.
func table(file string, more func(line []byte) bool) (lines [][]string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var text []byte
	for chunk := make([]byte, 64<<10); ; {
		n, err := f.Read(chunk)
		text = append(text, chunk[:n]...)
		if err != nil && err != io.EOF || n == 0 {
			break
		}
		if i := bytes.LastIndexByte(bytes.TrimRight(text, "\n"), '\n'); more != nil && i > 0 && !more(text[i:]) {
			break
		}
	}
	_, text, _ = bytes.Cut(text, []byte("\n"))
	for line := range bytes.Lines(text) {
		lines = append(lines, strings.Fields(string(line)))
	}
	return lines
}

// matches reports whether the socket is where the address says.
func (s socket) matches(a Address) bool {
	if a.Network == Unix {
		return s.path == a.Path
	}
	return strconv.Itoa(s.port) == a.Port
}

// taken reports whether somebody listens at an address.
func (n *namespace) taken(a Address) bool {
	return slices.ContainsFunc(n.listeners(a.Network), func(s socket) bool { return s.matches(a) })
}

// heldBy returns where a process listens, for a person to read.
func (n *namespace) heldBy(pid int) (where []string) {
	inodes := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes[strings.Trim(strings.TrimPrefix(to, "socket:"), "[]")] = true
		}
	}
	for _, kind := range [...]Network{TCP, UDP, Unix} {
		for _, s := range n.listeners(kind) {
			switch {
			case !inodes[s.inode]:
			case kind == Unix:
				where = append(where, "unix:"+s.path)
			default:
				where = append(where, fmt.Sprintf("%v port %d", kind, s.port))
			}
		}
	}
	slices.Sort(where)
	return slices.Compact(where)
}
