// Package servertest has the real servers that tests of network protocols start, one or more for each model that is built in.
package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Server is a real server and how to start it. In its command {port} stands for a port and {dir} for an empty folder that it
// may write to, as in the commands of teasel net.
type Server struct {
	Name    string
	Program string // what has to be installed
	Model   string // a protocol of package model
	Network string // tcp or udp
	// Command returns the command that starts it in the foreground on loopback. conf is a folder for its configuration, which
	// every user may read.
	Command func(t testing.TB, conf string) []string
	Root    bool // only root can start it; it becomes somebody else by itself
}

// All returns the servers.
func All() []Server {
	return []Server{
		{"mosquitto", "mosquitto", "mqtt", "tcp", mosquitto, false},
		{"dnsmasq", "dnsmasq", "dns", "udp", dnsmasq, false},
		{"redis", "redis-server", "redis", "tcp", redis, false},
		{"vsftpd", "vsftpd", "ftp", "tcp", vsftpd, false},
		{"aiosmtpd", "/usr/lib/python3/dist-packages/aiosmtpd", "smtp", "tcp", aiosmtpd, false},
		{"kamailio", "kamailio", "sip", "udp", kamailio, false},
		{"libcoap", "coap-server-notls", "coap", "udp", libcoap, false},
		{"tftpd-hpa", "in.tftpd", "tftp", "udp", tftpd, true},
		{"nginx", "nginx", "http", "tcp", nginx, false},
		{"snmpd", "snmpd", "snmp", "udp", snmpd, false},
		{"chrony", "chronyd", "ntp", "udp", chrony, false},
		{"zeroconf", "/usr/lib/python3/dist-packages/zeroconf", "mdns", "udp", zeroconf, false},
		{"pymodbus", "/usr/lib/python3/dist-packages/pymodbus", "modbus", "tcp", pymodbus, false},
	}
}

// Find returns a server by its name.
func Find(t testing.TB, name string) Server {
	t.Helper()
	for _, s := range All() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no server %q", name)
	return Server{}
}

// Require skips the test if we may not start the server, or it is not installed; where all servers have to be there, one that is
// not installed fails the test.
func (s Server) Require(t testing.TB) {
	t.Helper()
	if s.Root && os.Geteuid() != 0 {
		t.Skipf("skipped: only root can start %s", s.Program)
	}
	_, err := exec.LookPath(s.Program)
	if filepath.IsAbs(s.Program) { // a package of Debian's Python
		_, err = os.Stat(s.Program)
	}
	switch {
	case err == nil:
	case os.Getenv("TEASEL_REQUIRE_SERVERS") != "":
		t.Fatal(err)
	default:
		t.Skipf("%v: scripts/setup-test.sh installs it", err)
	}
}

// Folder returns a folder that every user may read, unlike the test's own. It is removed with the test.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "teasel-servertest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// file writes a configuration and returns its path.
func file(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// mosquitto listens on loopback only and lets everybody in, where it has no configuration.
func mosquitto(testing.TB, string) []string { return []string{"mosquitto", "-p", "{port}"} }

func dnsmasq(testing.TB, string) []string {
	return []string{"dnsmasq", "-k", "--conf-file=/dev/null", "--port={port}", "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts",
		"--address=/test.local/10.0.0.1", "--pid-file={dir}/pid", "--user=nobody"}
}

func redis(testing.TB, string) []string {
	return []string{"redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "{dir}"}
}

func vsftpd(t testing.TB, conf string) []string {
	root := filepath.Join(conf, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("listen=YES\nlisten_ipv6=NO\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\nanon_root=%s\nsecure_chroot_dir=%s\n"+
		"seccomp_sandbox=NO\nxferlog_enable=NO\nrun_as_launching_user=YES\ndelay_failed_login=0\n", root, root)
	// The file has to belong to whom the server runs as.
	return []string{"sh", "-c", `cp "$1" {dir}/conf && exec vsftpd {dir}/conf -olisten_port={port}`, "sh", file(t, conf, "vsftpd.conf", text)}
}

func aiosmtpd(testing.TB, string) []string {
	return []string{"/usr/bin/python3", "-m", "aiosmtpd", "-n", "-c", "aiosmtpd.handlers.Sink", "-l", "127.0.0.1:{port}"}
}

func libcoap(testing.TB, string) []string {
	return []string{"coap-server-notls", "-A", "127.0.0.1", "-p", "{port}", "-d", "100"}
}

// tftpd answers from a port of its own for each transfer, as RFC 1350 has it. There is one file to read.
func tftpd(testing.TB, string) []string {
	return []string{"sh", "-c", `head -c 1200 /dev/zero | tr '\0' x >{dir}/file && chmod 644 {dir}/file && chmod 777 {dir} && exec "$@"`, "sh",
		"in.tftpd", "-4", "-L", "-a", "127.0.0.1:{port}", "-u", "nobody", "-c", "-s", "{dir}"}
}

// kamailio is a user agent: it checks whether a request is as RFC 3261 has it, and answers.
func kamailio(t testing.TB, conf string) []string {
	const text = `
debug=-1
log_stderror=yes
children=1
auto_aliases=no
disable_tcp=yes
loadmodule "sl.so"
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "sanity.so"
loadmodule "maxfwd.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
request_route {
	if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
	if (!sanity_check()) exit;
	if (is_method("ACK")) exit;
	if (is_method("REGISTER")) { save("location"); exit; }
	sl_send_reply("200", "OK");
}
`
	return []string{"kamailio", "-DD", "-E", "-m", "16", "-M", "4", "-l", "udp:127.0.0.1:{port}", "-Y", "{dir}", "-P", "{dir}/pid", "-f", file(t, conf, "kamailio.cfg", text)}
}

// nginx is one process with a page, a form, a folder that takes files, and one that wants a password.
func nginx(t testing.TB, conf string) []string {
	const text = `
daemon off;
master_process off;
error_log stderr crit;
events {}
http {
	access_log off;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	gzip on;
	gzip_min_length 1;
	server {
		listen 127.0.0.1:PORT;
		root www;
		location = /form { return 200 "ok"; }
		location /files/ { dav_methods PUT DELETE; }
		location /private/ { return 401; }
	}
}
`
	return []string{"sh", "-c", `cd {dir} && mkdir -p www/files && seq 100 >www/index.html && sed s/PORT/{port}/ "$1" >conf && exec nginx -p {dir} -e stderr -c {dir}/conf -g 'pid pid;'`,
		"sh", file(t, conf, "nginx.conf", text)}
}

// snmpd lets everybody read and, with the community private, write. A user of version 3 needs no password.
func snmpd(t testing.TB, conf string) []string {
	const text = "rocommunity public 127.0.0.1\nrwcommunity private 127.0.0.1\nengineID teasel\ncreateUser reader\nrouser reader noauth\n"
	return []string{"env", "SNMP_PERSISTENT_DIR={dir}", "SNMPCONFPATH={dir}", "snmpd", "-f", "-Lo", "-C", "-c", file(t, conf, "snmpd.conf", text), "-p", "{dir}/pid", "-x", "{dir}/agentx",
		"udp:127.0.0.1:{port}"}
}

// chrony serves the time of this machine, which it leaves alone.
func chrony(testing.TB, string) []string {
	return []string{"chronyd", "-U", "-d", "-x", "-f", "/dev/null", "bindaddress 127.0.0.1", "port {port}", "cmdport 0", "bindcmdaddress /", "local stratum 8", "allow", "pidfile {dir}/pid"}
}

// zeroconf has one service to tell of. It would listen at port 5353 only, and sends to all others on the loopback interface as well.
func zeroconf(t testing.TB, conf string) []string {
	const text = `
import socket, sys, threading
from zeroconf import ServiceInfo, Zeroconf

service = ServiceInfo("_http._tcp.local.", "teasel._http._tcp.local.", addresses=[b"\x7f\0\0\1"], port=80, properties={"path": "/"}, server="teasel.local.")

class Responder(Zeroconf):
    def start(self):  # before it reads anything, and without asking whether the name is taken
        self.registry.async_add(service)
        super().start()

bind = socket.socket.bind
socket.socket.bind = lambda s, to: bind(s, (to[0], int(sys.argv[1])))
responder = Responder(interfaces=["127.0.0.1"])
threading.Event().wait()
`
	return []string{"/usr/bin/python3", file(t, conf, "mdns.py", text), "{port}"}
}

func pymodbus(t testing.TB, conf string) []string {
	const text = `
import sys
from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.device import ModbusDeviceIdentification
from pymodbus.server import StartTcpServer

block = lambda: ModbusSequentialDataBlock(0, [0] * 100)
identity = ModbusDeviceIdentification(info_name={"VendorName": "teasel", "ProductCode": "1", "MajorMinorRevision": "1.0"})
context = ModbusServerContext(ModbusSlaveContext(di=block(), co=block(), hr=block(), ir=block()), single=True)
StartTcpServer(context=context, identity=identity, address=("127.0.0.1", int(sys.argv[1])), allow_reuse_address=True)
`
	return []string{"/usr/bin/python3", file(t, conf, "modbus.py", text), "{port}"}
}

// Fill replaces the placeholders of a command.
func Fill(command []string, port int, dir string) (out []string) {
	r := strings.NewReplacer("{port}", fmt.Sprint(port), "{dir}", dir)
	for _, a := range command {
		out = append(out, r.Replace(a))
	}
	return out
}
