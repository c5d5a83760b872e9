package netproto

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// Script returns a program in Python, of its standard library alone, that sends a dialogue to the server and says what becomes of
// it: for the report of a bug to somebody who has no teasel. By itself it starts the server; given a host and a port it
// connects there. about is a line that says what it shows, and times how often the dialogue is held, or until the server has died. Values that the server gives out
// are sent as they were in one run; the program says so where there are some.
func (t Target) Script(in *dialogue.Dialogue, about string, times int) (string, error) {
	address, err := conn.ParseAddress(t.Address)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, scriptHead, oneLine(about))
	fmt.Fprintf(&b, "NETWORK = %s\nHOST = %s\nPORT = %s\nPATH = %s\n", pythonText(address.Network.String()), pythonText(address.Host),
		pythonText(address.Port), pythonText(address.Path))
	follow := "False"
	if t.Model != nil && t.Model.Connection.Follow {
		follow = "True"
	}
	fmt.Fprintf(&b, "SERVER = %s\nFOLLOW = %s  # the server answers from another port, and what comes after goes there\n", pythonList(t.Command), follow)
	fmt.Fprintf(&b, "TIMES = %d  # that they are sent at most\n", max(times, 1))
	b.WriteString("# Each message: on a new connection or not, whether an answer is waited for, what it is, its bytes.\nMESSAGES = [\n")
	s := dialogue.NewSession(t.Model)
	late := false
	write := func(d *dialogue.Dialogue) {
		if d == nil {
			return
		}
		s.Begin(d)
		for i := range d.Messages {
			m := &d.Messages[i]
			late = late || t.Model != nil && t.Model.Message(m.Name) != nil && t.Model.Message(m.Name).Late()
			fmt.Fprintf(&b, "    (%s, %s, %s, %s),\n", pythonBool(m.Reconnect), pythonBool(!m.NoWait), pythonText(m.Name), pythonBytes(s.Render(i)))
		}
	}
	write(s.Bootstrap())
	write(in)
	write(s.Teardown())
	b.WriteString("]\n")
	if late {
		b.WriteString("# Some messages carry values that the server gives out: they are those of one run, and have to be put in by hand.\n")
	}
	b.WriteString(scriptBody)
	return b.String(), nil
}

func oneLine(s string) string {
	return strings.NewReplacer("\\", "/", "\"", "'", "\n", " ", "\r", " ").Replace(s)
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func pythonText(s string) string { return strconv.QuoteToASCII(s) }

func pythonList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = pythonText(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// pythonBytes writes bytes as Python does.
func pythonBytes(data []byte) string {
	var b strings.Builder
	b.WriteString(`b"`)
	for _, c := range data {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

const scriptHead = `#!/usr/bin/env python3
"""Shows: %s

Without arguments it starts the server; HOST PORT name one that runs already.
Exit status: 1 the server has died or no longer answers, 0 it is still there.
"""
import os
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

`

const scriptBody = `

def fill(text, port, folder):
    return text.replace("{port}", str(port)).replace("{dir}", folder).replace("{socket}", folder + "/s")


class Following:
    """Sends to the port that the last answer came from."""

    def __init__(self, s, peer):
        self.s, self.peer = s, peer
        self.settimeout, self.close = s.settimeout, s.close

    def sendall(self, data):
        self.s.sendto(data, self.peer)

    def recv(self, size):
        data, self.peer = self.s.recvfrom(size)
        return data


def connect(host, port, path):
    if NETWORK == "unix":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.connect(path)
    elif NETWORK == "udp":
        s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        if FOLLOW:
            s = Following(s, (host, port))
        else:
            s.connect((host, port))
    else:
        s = socket.create_connection((host, port), 5)
    if NETWORK == "tls":
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        s = context.wrap_socket(s)
    s.settimeout(0.3)
    return s


def listening(host, port, path, server):
    for _ in range(100):
        if server.poll() is not None:
            sys.exit("the server ended with status %d before it listened" % server.returncode)
        time.sleep(0.1)
        if NETWORK == "udp":
            return time.sleep(1)
        try:
            return connect(host, port, path).close()
        except OSError:
            pass
    sys.exit("the server does not listen")


def hear(s):
    try:
        data = s.recv(65536)
        print("<", data if data else "the server has closed the connection")
        return bool(data)
    except (TimeoutError, socket.timeout):
        print("< nothing")
        return True
    except OSError as e:
        print("<", e)
        return False


def hang_up(s, unread):
    if unread and NETWORK == "tcp":  # the kernel resets a connection that is closed with an answer unread
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def talk(host, port, path):
    s, heard, unread = None, True, False
    for new, wait, name, data in MESSAGES:
        if s is None or new:
            if s is not None:
                hang_up(s, unread)
            s, heard, unread = connect(host, port, path), True, False
        if not heard:
            continue
        print(">", name, data)
        try:
            s.sendall(data)
        except OSError as e:
            print("!", e)
            heard = False
        if wait and heard:
            heard, unread = hear(s), False
        else:
            unread = True
    if s is not None:
        hang_up(s, unread)


def held(server):
    if TIMES == 1 or server is None or server.poll() is not None:
        return
    with open("/proc/%d/status" % server.pid) as f:
        memory = [line.split(":")[1].strip() for line in f if line.startswith("VmRSS")]
    print("the server holds", *memory, "of memory and", len(os.listdir("/proc/%d/fd" % server.pid)), "open files")


def main():
    if NETWORK == "stdio":
        data = b"".join(m[3] for m in MESSAGES)
        with tempfile.TemporaryDirectory() as folder:
            status = subprocess.run([fill(a, 0, folder) for a in SERVER], input=data).returncode
        print("the server ended with status", status)
        sys.exit(status != 0)
    server, folder = None, tempfile.mkdtemp()
    host, port = HOST, PORT
    if len(sys.argv) == 3:
        host, port = sys.argv[1], int(sys.argv[2])
    elif PORT == "{port}":
        probe = socket.socket()
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
    port = int(port or 0)
    path = fill(PATH, port, folder)
    if SERVER and len(sys.argv) != 3:
        command = [fill(a, port, folder) for a in SERVER]
        print("$", " ".join(command))
        server = subprocess.Popen(command)
        listening(host, port, path, server)
    held(server)
    for n in range(TIMES):
        try:
            talk(host, port, path)
        except OSError as e:
            print("!", e)
            break
        if server is not None and server.poll() is not None:
            break
    time.sleep(1)
    held(server)
    if server is None:
        try:
            connect(host, port, path).close()
        except OSError as e:
            sys.exit("the server no longer answers: %s" % e)
        return print("the server still answers")
    status = server.poll()
    if status is None:
        server.kill()
        server.wait()
        return print("the server is still there")
    print("the server has died: status", status)
    sys.exit(1)


main()
`
