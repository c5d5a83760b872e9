package netproto

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Script returns a program in Python, of its standard library alone, that sends a dialogue to the server and says what becomes of
// it: for the report of a bug to somebody who has no teasel. By itself it starts the server; given a host and a port it
// connects there. about is a line that says what it shows, and times how often the dialogue is held, or until the server has
// died. Values that the server gives out are taken from its responses where that is simple; the others are sent as they were in
// one run, of which transcript tells, and the program says so. The transcript is the detail of a finding; "": there is none.
func (t Target) Script(in *dialogue.Dialogue, about string, times int, transcript string) (string, error) {
	address, err := conn.ParseAddress(t.Address)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	t.scriptSettings(&b, address, about, times)
	w := scriptMessages{sent: judge.Sent(transcript)}
	b.WriteString(w.patterns(t.Model))
	b.WriteString(scriptCaptures)
	b.WriteString("# Each message: which client sends it, on a new connection or not, whether an answer is waited for, what it is, its bytes.\nMESSAGES = [\n")
	s := dialogue.NewSession(t.Model)
	client := 0
	write := func(d *dialogue.Dialogue, i int, anew bool) {
		s.Begin(d)
		m := &d.Messages[i]
		var kind *model.Message
		if t.Model != nil {
			kind = t.Model.Message(m.Name)
		}
		fmt.Fprintf(&b, "    (%d, %s, %s, %s, %s),\n", client, pythonBool(anew), pythonBool(!m.NoWait), pythonText(m.Name), w.message(kind, m, s.Render(i)))
	}
	all := func(d *dialogue.Dialogue, anew bool) (none bool) {
		if d == nil || len(d.Messages) == 0 {
			return true
		}
		for i := range d.Messages {
			write(d, i, anew && i == 0)
		}
		return false
	}
	var connected [dialogue.MaxClients]bool
	if len(in.Messages) == 0 {
		all(s.Bootstrap(), false)
	}
	for i := range in.Messages { // what has to be sent on each new connection comes first
		client = int(in.Messages[i].Client)
		anew := in.Messages[i].Reconnect && connected[client]
		if anew || !connected[client] {
			anew = all(s.Bootstrap(), anew) && anew
		}
		connected[client] = true
		write(in, i, anew)
	}
	for client = in.Clients() - 1; client >= 0; client-- {
		if connected[client] || client == 0 {
			all(s.Teardown(), false)
		}
	}
	fmt.Fprintf(&b, "]\nSEVERAL = %s  # clients\n", pythonBool(in.Clients() > 1))
	if w.fixed {
		b.WriteString("# Some messages carry values that the server gives out: they are those of one run, and may have to be put in by hand.\n")
	}
	b.WriteString("\n\n" + isolation.ScriptHome())
	b.WriteString(scriptBody)
	return b.String(), nil
}

// scriptSettings writes what the script is about, and where and how the server is started and reached.
func (t Target) scriptSettings(b *strings.Builder, address conn.Address, about string, times int) {
	about, warning := oneLine(about), ""
	if t.Sandbox {
		warning = isolation.OutsideWarning
		about += "\n\nWarning: " + warning + "."
	}
	fmt.Fprintf(b, scriptHead, about)
	fmt.Fprintf(b, "WARNING = %s  # when the server is started\n", pythonText(warning))
	fmt.Fprintf(b, "NETWORK = %s\nHOST = %s\nPORT = %s\nPATH = %s\n", pythonText(address.Network.String()), pythonText(address.Host),
		pythonText(address.Port), pythonText(address.Path))
	follow := "False"
	if t.Model != nil && t.Model.Connection.Follow {
		follow = "True"
	}
	fmt.Fprintf(b, "ENV = %s\nDIR = %s  # empty: a folder of its own\nUSER = %s  # empty: who runs this\n", pythonList(t.Env), pythonText(t.Dir), pythonText(t.User))
	fmt.Fprintf(b, "SERVER = %s\nFOLLOW = %s  # the server answers from another port, and what comes after goes there\n", pythonList(t.Command), follow)
	fmt.Fprintf(b, "OWN_HOME = %s  # the server has an empty one\n", pythonBool(!t.KeepHome))
	fmt.Fprintf(b, "TIMES = %d  # that they are sent at most\n", max(times, 1))
}

// oneLine makes a text, which may be anything that the server says, one line of a program.
func oneLine(s string) string {
	return strings.NewReplacer("\\", "/", "\"", "'").Replace(plain.Line(s))
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
Exit status: 1 the server has died, no longer answers, goes on using processor time, or keeps files open; 0 it is still there.
"""
import atexit
import contextlib
import os
import re
import shutil
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


def start(port, folder, **pipes):
    """Starts the server as it was when it was fuzzed."""
    if WARNING:
        print("warning:", WARNING, file=sys.stderr, flush=True)
    command = [fill(a, port, folder) for a in SERVER]
    print("$", " ".join(command), flush=True)
    environ = dict(os.environ)
    environ.update(own_home() if OWN_HOME else {})
    environ.update(fill(e, port, folder).split("=", 1) for e in ENV)
    command[0] = os.path.abspath(shutil.which(command[0]) or command[0])  # it runs in another folder
    if USER and os.geteuid() == 0:
        pipes["user"] = int(USER) if USER.isdigit() else USER
        shutil.chown(folder, pipes["user"])
    return subprocess.Popen(command, env=environ, cwd=fill(DIR, port, folder) or folder, **pipes)


def used(pid):
    """The processor time that a process and what it has forked have used, in seconds."""
    total = 0
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
        total = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as f:
                total += sum(used(int(child)) for child in f.read().split())
    except OSError:
        pass
    return total


def hangs(pid):
    before = used(pid)
    time.sleep(2)
    return used(pid) - before > 0.1  # one that waits uses next to none, also where the processor is shared with others


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
        take(data)
        print("<", data if data else "the server has closed the connection")
        return bool(data)
    except (TimeoutError, socket.timeout):
        print("< nothing")
        return None
    except OSError as e:
        print("<", e)
        return False


silent = []  # not empty: the server does not greet


def hang_up(s, unread):
    if unread and NETWORK == "tcp":  # the kernel resets a connection that is closed with an answer unread
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def talk(host, port, path):
    clients = {}  # by number: the socket, whether the server has not closed it, whether an answer is unread, what was captured
    for client, new, wait, name, data in MESSAGES:
        s, heard, unread, values = clients.get(client, (None, True, False, {}))
        captured.clear()
        captured.update(values)
        if s is None or new:
            captured.clear()
            if s is not None:
                hang_up(s, unread)
            s, heard, unread = connect(host, port, path), True, False
            if NETWORK != "udp" and not silent:
                heard = hear(s)  # it may greet
                if heard is None:  # and will not on the next connection
                    heard = silent.append(True) is None
        if not heard:
            clients[client] = s, heard, unread, dict(captured)
            continue
        await_values(data, lambda: hear(s))
        data = current(data)
        print(*(["client", client + 1] if SEVERAL else []), ">", name, data)
        try:
            s.sendall(data)
        except OSError as e:
            print("!", e)
            heard = False
        if wait and heard:
            heard, unread = hear(s) is not False, False
        else:
            unread = True
        clients[client] = s, heard, unread, dict(captured)
    for _, (s, _, unread, _) in sorted(clients.items(), reverse=True):
        hang_up(s, unread)


def held(server):
    """Prints what the server holds, and returns how many files it has open."""
    if TIMES == 1 or server is None or server.poll() is not None:
        return 0
    with open("/proc/%d/status" % server.pid) as f:
        memory = [line.split(":")[1].strip() for line in f if line.startswith("VmRSS")]
    files = len(os.listdir("/proc/%d/fd" % server.pid))
    print("the server holds", *memory, "of memory and", files, "open files")
    return files


def main():
    if NETWORK == "stdio":
        with tempfile.TemporaryDirectory() as folder:
            server, endless = start(0, folder, stdin=subprocess.PIPE), False
            try:
                server.communicate(b"".join(m[4] for m in MESSAGES), 5)
            except subprocess.TimeoutExpired:
                endless = hangs(server.pid)
                server.kill()
                server.wait()
                print("the server goes on using processor time" if endless else "the server is still there")
                sys.exit(endless)
        print("the server ended with status", server.returncode)
        sys.exit(server.returncode != 0)
    server, folder = None, tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
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
        server = start(port, folder)
        listening(host, port, path, server)
    before, done, kept = held(server), 0, 0
    for n in range(TIMES):
        try:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere if n else sys.stdout):
                talk(host, port, path)
        except OSError as e:
            print("!", e)
            break
        done = n + 1
        if done == 2:
            print("and so on, %d times at most" % TIMES, flush=True)
        if server is not None and server.poll() is not None:
            break
        if done % 64 == 0:
            kept = held(server) - before
            if kept >= done // 2:
                break
    time.sleep(1)
    if done >= 64:
        kept = held(server) - before
    if server is None:
        try:
            connect(host, port, path).close()
        except OSError as e:
            sys.exit("the server no longer answers: %s" % e)
        return print("the server still answers")
    status = server.poll()
    if status is None:
        fault = None
        try:
            connect(host, port, path).close()
        except OSError as e:
            fault = "the server takes no connections any more: %s" % e
        if hangs(server.pid):
            fault = "the server goes on using processor time"
        if done >= 64 and kept >= done // 2:
            fault = "the server has kept %d files open in %d times" % (kept, done)
        server.kill()
        server.wait()
        if fault:
            sys.exit(fault)
        return print("the server is still there")
    print("the server has died: status", status)
    sys.exit(1)


main()
`
