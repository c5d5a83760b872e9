package conn

import (
	"net"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel says over netlink is what its tables say.
func TestDiagnosed(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for _, tt := range []struct {
		protocol    byte
		state       uint
		file, named string
		port        int
	}{
		{unix.IPPROTO_TCP, stateListen, "/proc/net/tcp", "0A", tcp.Addr().(*net.TCPAddr).Port},
		{unix.IPPROTO_UDP, stateClose, "/proc/net/udp", "07", udp.LocalAddr().(*net.UDPAddr).Port},
	} {
		got, err := (*namespace)(nil).diagnosed(tt.protocol, tt.state)
		if err != nil {
			t.Skip("skipped: ", err)
		}
		here := func(s socket) bool { return s.port == tt.port }
		i, j := slices.IndexFunc(got, here), slices.IndexFunc(bound(tt.file, tt.named), here)
		if i < 0 || j < 0 || got[i] != bound(tt.file, tt.named)[j] {
			t.Errorf("%s: port %d is at %d of %v, and at %d of the table", tt.file, tt.port, i, got, j)
		}
	}
}
