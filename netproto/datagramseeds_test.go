package netproto

import "testing"

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
