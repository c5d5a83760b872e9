package proc

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Outside reports whether something beyond a program may keep it waiting: it or a descendant has a connection, or tries to get one, to an
// address, or a descendant is working that does not write where the process does: one that does is the program itself, started by a
// wrapper. Listening sockets, pipes and connections to one another do not count. It is a guess at one moment; false if the processes cannot
// be read.
func Outside(pid int) bool {
	all, err := listProcesses(nil)
	if err != nil {
		return false
	}
	ours := family(all, pid, false)
	sockets, output := map[string]bool{}, outputOf(pid)
	for i := range all {
		p := &all[i]
		if !ours[p.pid] || p.dead() {
			continue
		}
		if p.pid != pid && works(p.pid) && outputOf(p.pid) != output {
			return true
		}
		addSockets(sockets, p.pid)
	}
	return len(sockets) > 0 && connected(pid, sockets)
}

// Works reports whether a program works itself: a thread runs of the process or, since it may be a wrapper, of a descendant that writes
// where it does.
func Works(pid int) bool {
	all, err := listProcesses(nil)
	if err != nil {
		return works(pid)
	}
	output := outputOf(pid)
	for id := range family(all, pid, false) {
		if works(id) && (id == pid || outputOf(id) == output) {
			return true
		}
	}
	return false
}

func works(pid int) bool {
	running, _ := threadsOf(pid)
	return running > 0
}

// outputOf names what a process has as its standard output.
func outputOf(pid int) string {
	name, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/1") // "" of one that has ended, or has closed it
	return name
}

// addSockets adds the inodes of the sockets that a process has open.
func addSockets(sockets map[string]bool, pid int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it has ended, or is not ours to look at
	}
	for _, e := range entries {
		link, _ := os.Readlink(dir + e.Name())
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
	}
}

// States of a TCP connection, as in /proc/net/tcp: see proc_pid_net(5).
const (
	tcpEstablished = "01"
	tcpSynSent     = "02"
	tcpListen      = "0A"
	udpConnected   = "01"
)

// connected reports whether one of the sockets is connected to an address that none of the others has, in the network of a process, and
// not from a port on which another one listens.
func connected(pid int, sockets map[string]bool) bool {
	local, listening := map[string]bool{}, map[string]bool{}
	var remote [][2]string // the address, and the port on this side
	for _, kind := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/net/" + kind)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			f := strings.Fields(s.Text())
			if len(f) < 10 || !sockets[f[9]] {
				continue
			}
			local[f[1]] = true
			_, port, _ := strings.Cut(f[1], ":")
			if listening[port] = listening[port] || strings.HasPrefix(kind, "tcp") && f[3] == tcpListen; f[3] == tcpEstablished || f[3] == tcpSynSent || strings.HasPrefix(kind, "udp") && f[3] == udpConnected {
				remote = append(remote, [2]string{f[2], port})
			}
		}
	}
	for _, r := range remote {
		if !local[r[0]] && !listening[r[1]] {
			return true
		}
	}
	return false
}
