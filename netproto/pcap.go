package netproto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// ReadCapture reads a pcap or pcapng file and returns what clients have sent to a port, a dialogue for each connection, in
// the order in which they begin. The model, which may be nil, says where messages end; without one, a message ends where the
// server answers. Where both sides have the same port, the client is who sends first. Behind bytes that the capture lacks a new
// message begins. A capture that breaks off in the middle of a packet gives what came before.
func ReadCapture(path string, port int, m *model.Model) ([]*dialogue.Dialogue, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, err := packets(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	c := capture{port: port, flows: map[flowKey]*flow{}}
	for {
		data, _, err := source.ReadPacketData()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		c.take(gopacket.NewPacket(data, source.LinkType(), gopacket.DecodeOptions{Lazy: true, NoCopy: true}))
	}
	var all []*dialogue.Dialogue
	for _, f := range c.order {
		for len(f.early) > 0 {
			f.skip()
		}
		if d := f.dialogue(m); len(d.Messages) > 0 {
			all = append(all, d)
		}
	}
	return all, nil
}

// packetSource is what pcapgo's readers of both formats have.
type packetSource interface {
	gopacket.PacketDataSource
	LinkType() layers.LinkType
}

var (
	_ packetSource = (*pcapgo.Reader)(nil)
	_ packetSource = (*pcapgo.NgReader)(nil)
)

func packets(r io.Reader) (packetSource, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(4)
	if err != nil {
		return nil, errors.New("it is empty")
	}
	if bytes.Equal(magic, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
		return pcapgo.NewNgReader(b, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(b)
}

// capture are the conversations with one port.
type capture struct {
	port  int
	flows map[flowKey]*flow
	order []*flow
}

// flowKey names a conversation: the client's address and port, the server's address, and whether it is UDP.
type flowKey struct {
	client, server gopacket.Endpoint
	port           uint16
	datagrams      bool
}

// flow is what one client has sent.
type flow struct {
	datagrams bool
	messages  [][]byte
	next      uint32 // sequence number of the byte that comes next
	begun     bool
	answered  bool              // the server has said something since the client did
	early     map[uint32][]byte // segments that came before those in front of them
	gaps      []int             // numbers of messages before which the capture lacks bytes
}

func (c *capture) take(p gopacket.Packet) {
	network := p.NetworkLayer()
	if network == nil {
		return
	}
	from, to := network.NetworkFlow().Endpoints()
	switch l := p.TransportLayer().(type) {
	case *layers.UDP:
		key, answers := flowKey{from, to, uint16(l.SrcPort), true}, flowKey{to, from, uint16(l.DstPort), true}
		if int(l.DstPort) == c.port && (l.SrcPort != l.DstPort || c.flows[answers] == nil) {
			f := c.flow(key)
			f.messages = append(f.messages, bytes.Clone(l.Payload))
		}
	case *layers.TCP:
		c.segment(l, flowKey{from, to, uint16(l.SrcPort), false}, flowKey{to, from, uint16(l.DstPort), false})
	}
}

// segment takes a segment of TCP: key is the conversation if the client has sent it, answers if the server has. Where both
// have the same port, whoever begins is the client.
func (c *capture) segment(l *layers.TCP, key, answers flowKey) {
	fromClient := int(l.DstPort) == c.port
	if fromClient && l.SrcPort == l.DstPort {
		fromClient = !(l.SYN && l.ACK) && (l.SYN || c.flows[answers] == nil)
	}
	switch {
	case fromClient:
		if l.SYN { // the port is used again
			delete(c.flows, key)
			delete(c.flows, answers)
		}
		c.flow(key).segment(l)
	case int(l.SrcPort) == c.port:
		f := c.flows[answers]
		if f == nil {
			return
		}
		for len(f.early) > 0 && l.ACK && int32(l.Ack-f.next) > 0 { // the server has what the capture lacks
			f.skip()
		}
		f.answered = f.answered || len(l.Payload) > 0
	}
}

func (c *capture) flow(key flowKey) *flow {
	f := c.flows[key]
	if f == nil {
		f = &flow{datagrams: key.datagrams, early: map[uint32][]byte{}}
		c.flows[key] = f
		c.order = append(c.order, f)
	}
	return f
}

// segment puts what a segment brings where it belongs.
func (f *flow) segment(l *layers.TCP) {
	if l.SYN {
		f.next, f.begun = l.Seq+1, true
		return
	}
	if len(l.Payload) == 0 {
		return
	}
	if !f.begun { // the capture began later
		f.next, f.begun = l.Seq, true
	}
	if ahead := int32(l.Seq - f.next); ahead > 0 {
		f.early[l.Seq] = bytes.Clone(l.Payload)
		return
	}
	f.take(l.Seq, l.Payload)
	f.takeEarly()
}

// takeEarly takes the segments that were waiting for what has come now.
func (f *flow) takeEarly() {
	for waiting, ok := f.early[f.next]; ok; waiting, ok = f.early[f.next] {
		delete(f.early, f.next)
		f.take(f.next, waiting)
	}
}

// skip gives up what is missing in front of the segments that wait for it. A new message begins behind it.
func (f *flow) skip() {
	nearest, least := f.next, int32(math.MaxInt32)
	for seq := range f.early {
		if ahead := int32(seq - f.next); ahead < least {
			nearest, least = seq, ahead
		}
	}
	waiting := f.early[nearest]
	delete(f.early, nearest)
	if least < 0 { // the beginning of it was sent again meanwhile
		f.take(nearest, waiting)
	} else {
		f.gaps = append(f.gaps, len(f.messages))
		f.next, f.answered = nearest, true
		f.take(nearest, waiting)
	}
	f.takeEarly()
}

// take appends the part of a segment that is new.
func (f *flow) take(seq uint32, payload []byte) {
	old := int(f.next - seq)
	if old >= len(payload) { // sent again
		return
	}
	payload = payload[old:]
	f.next += uint32(len(payload))
	if n := len(f.messages); n > 0 && !f.answered {
		f.messages[n-1] = append(f.messages[n-1], payload...)
		return
	}
	f.messages, f.answered = append(f.messages, bytes.Clone(payload)), false
}

// dialogue makes messages of what was sent.
func (f *flow) dialogue(m *model.Model) *dialogue.Dialogue {
	if m == nil {
		return dialogue.Raw(f.messages...)
	}
	if !f.datagrams {
		d, from := &dialogue.Dialogue{}, 0
		for _, to := range append(f.gaps, len(f.messages)) {
			d.Messages = append(d.Messages, dialogue.Split(m, bytes.Join(f.messages[from:to], nil)).Messages...)
			from = to
		}
		return d
	}
	d := &dialogue.Dialogue{}
	for _, one := range f.messages {
		d.Messages = append(d.Messages, dialogue.Split(m, one).Messages...)
	}
	return d
}
