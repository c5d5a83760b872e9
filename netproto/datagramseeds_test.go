package netproto

import (
	"bytes"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/servertest"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// Requests in BER say how long they are: what follows the first two bytes.
func TestDatagramSeeds(t *testing.T) {
	for _, s := range (Target{Address: "udp://127.0.0.1:{port}"}).Seeds() {
		data := s.Input.Messages[0].Data
		switch s.Name {
		case "snmp-1", "snmp-2c-next":
			if int(data[1]) != len(data)-2 {
				t.Errorf("%s has %d bytes and says %d", s.Name, len(data)-2, data[1])
			}
			if pdu := data[13:]; int(pdu[1]) != len(pdu)-2 {
				t.Errorf("the request of %s has %d bytes and says %d", s.Name, len(pdu)-2, pdu[1])
			}
		case "ntp":
			if len(data) != 48 {
				t.Errorf("ntp has %d bytes", len(data))
			}
		}
	}
	for _, s := range (Target{Address: "127.0.0.1:{port}"}).Seeds() {
		if s.Name == "snmp-1" {
			t.Error("a server over TCP is asked in SNMP")
		}
	}
}

// answeredSeed notes whether a seed is kept with an answer of the server.
type answeredSeed struct {
	data     []byte
	answered bool
}

func (s *answeredSeed) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded && bytes.Equal(e.Entry.Data, s.data) {
		s.answered = Answered(nil, e.Entry.Features)
	}
	return nil
}

// A server over UDP of which teasel has no model answers the seed in its protocol, and that is kept.
func TestDatagramSeedsAreAnswered(t *testing.T) {
	for server, name := range map[string]string{"snmpd": "snmp-1", "chrony": "ntp", "dnsmasq": "dns", "zeroconf": "mdns"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			target := realTarget(t, servertest.Find(t, server))
			target.Model = nil
			c := Campaign(target, &dialogue.Mutator{})
			var kept answeredSeed
			for _, s := range target.Seeds() {
				c.Seeds = append(c.Seeds, s.Input)
				if s.Name == name {
					var err error
					if kept.data, err = c.Codec.Encode(s.Input); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.Seed, c.Runs, c.Reporters = 1, 64, []teasel.Reporter{&kept}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !kept.answered {
				t.Errorf("%s has not answered, or it was not kept", name)
			}
		})
	}
}
