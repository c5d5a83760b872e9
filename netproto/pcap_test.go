package netproto

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// packet is one packet of a capture. The client has port 40000 and more, the server 1883.
type packet struct {
	client  int
	answer  bool // it comes from the server
	udp     bool
	syn     bool
	ack     uint32
	same    bool // the client has the server's port
	seq     uint32
	payload string
}

func (p packet) bytes(t *testing.T) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, TTL: 64, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}, Protocol: layers.IPProtocolTCP}
	from, to := 40000+p.client, 1883
	if p.same {
		from = to
	}
	if p.answer {
		ip.SrcIP, ip.DstIP, from, to = ip.DstIP, ip.SrcIP, to, from
	}
	var transport gopacket.SerializableLayer
	if p.udp {
		ip.Protocol = layers.IPProtocolUDP
		u := &layers.UDP{SrcPort: layers.UDPPort(from), DstPort: layers.UDPPort(to)}
		_ = u.SetNetworkLayerForChecksum(ip)
		transport = u
	} else {
		c := &layers.TCP{SrcPort: layers.TCPPort(from), DstPort: layers.TCPPort(to), Seq: p.seq, SYN: p.syn, ACK: !p.syn || p.answer, Ack: p.ack, Window: 1000}
		_ = c.SetNetworkLayerForChecksum(ip)
		transport = c
	}
	b := gopacket.NewSerializeBuffer()
	ethernet := &layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ethernet, ip, transport, gopacket.Payload(p.payload)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written writes a capture in one of the two formats.
func written(t *testing.T, ng bool, packets []packet) string {
	t.Helper()
	var b bytes.Buffer
	var put func(gopacket.CaptureInfo, []byte) error
	if ng {
		w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
		if err != nil {
			t.Fatal(err)
		}
		put = func(ci gopacket.CaptureInfo, data []byte) error {
			if err := w.WritePacket(ci, data); err != nil {
				return err
			}
			return w.Flush()
		}
	} else {
		w := pcapgo.NewWriter(&b)
		if err := w.WriteFileHeader(65536, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		put = w.WritePacket
	}
	for i, p := range packets {
		data := p.bytes(t)
		if err := put(gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(data), Length: len(data)}, data); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "capture")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func texts(all []*dialogue.Dialogue) (out [][]string) {
	for _, d := range all {
		var one []string
		for i := range d.Messages {
			one = append(one, string(d.Messages[i].Data))
		}
		out = append(out, one)
	}
	return out
}

// Segments that were sent twice, came out of order, or belong to other connections and ports are put in order.
func TestReadCapture(t *testing.T) {
	packets := []packet{
		{seq: 99, syn: true},
		{seq: 100, payload: "CONN"},
		{client: 1, seq: 7, payload: "in the middle"}, // the capture began later
		{seq: 104, payload: "ECT"},
		{seq: 500, answer: true, payload: "OK"},
		{seq: 100, payload: "CONN"}, // again
		{seq: 111, payload: "LAST"}, // early
		{seq: 107, payload: "PING"},
		{udp: true, payload: "datagram"},
		{udp: true, payload: "another"},
		{seq: 99, syn: true}, // the port is used again
		{seq: 100, payload: "NEW"},
	}
	want := [][]string{{"CONNECT", "PINGLAST"}, {"in the middle"}, {"datagram", "another"}, {"NEW"}}
	for _, ng := range []bool{false, true} {
		got, err := ReadCapture(written(t, ng, packets), 1883, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(texts(got), want) {
			t.Errorf("pcapng %v: %q, want %q", ng, texts(got), want)
		}
	}
}

// Where client and server have one port, as with SIP and NTP, what the server sends is no dialogue of a client.
func TestReadCaptureOfOnePort(t *testing.T) {
	file := written(t, false, []packet{
		{same: true, udp: true, payload: "INVITE"},
		{same: true, udp: true, answer: true, payload: "200 OK"},
		{same: true, udp: true, payload: "ACK"},
		{same: true, syn: true, seq: 9},
		{same: true, syn: true, answer: true, seq: 99, ack: 10},
		{same: true, seq: 10, payload: "HELLO"},
		{same: true, answer: true, seq: 100, ack: 15, payload: "hello"},
		{same: true, seq: 15, payload: "BYE"},
	})
	got, err := ReadCapture(file, 1883, nil)
	if want := [][]string{{"INVITE", "ACK"}, {"HELLO", "BYE"}}; err != nil || !reflect.DeepEqual(texts(got), want) {
		t.Errorf("%q, %v, want %q", texts(got), err, want)
	}
}

// Bytes that the capture lacks do not take what comes after them along.
func TestReadCaptureWithGaps(t *testing.T) {
	file := written(t, false, []packet{
		{seq: 9, syn: true},
		{seq: 10, payload: "one"},
		{seq: 23, payload: "two"}, // 13 to 22 are lost
		{answer: true, ack: 26, payload: "ok"},
		{seq: 26, payload: "three"},
		{seq: 41, payload: "fi"}, // lost again, and nothing answers
		{seq: 43, payload: "ve"},
		{seq: 50, payload: "six"},
	})
	got, err := ReadCapture(file, 1883, nil)
	if want := [][]string{{"one", "two", "three", "five", "six"}}; err != nil || !reflect.DeepEqual(texts(got), want) {
		t.Errorf("%q, %v, want %q", texts(got), err, want)
	}
}

// The model says where messages end.
func TestReadCaptureByModel(t *testing.T) {
	m := plantedModel(t)
	stream := string(request(1, "me")) + string(request(5, ""))
	file := written(t, false, []packet{{seq: 1, payload: stream[:3]}, {seq: 4, payload: stream[3:]}, {udp: true, payload: stream}})
	got, err := ReadCapture(file, 1883, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		if len(d.Messages) != 2 || d.Messages[0].Name != "hello" || d.Messages[1].Name != "list" {
			t.Errorf("%q", texts(got))
		}
	}
	if len(got) != 2 {
		t.Errorf("%d dialogues", len(got))
	}
}

// What is no capture is an error, and what breaks off gives what came before.
func TestReadBrokenCapture(t *testing.T) {
	file := written(t, false, []packet{{seq: 1, payload: "one"}, {seq: 4, answer: true, payload: "x"}, {seq: 4, payload: "two"}})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCapture(file, 1883, nil); err != nil || !reflect.DeepEqual(texts(got), [][]string{{"one"}}) {
		t.Errorf("%q, %v", texts(got), err)
	}
	for _, text := range []string{"", "abc", "this is no capture at all"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCapture(file, 1883, nil); err == nil {
			t.Errorf("%q is a capture", text)
		}
	}
}
