package netproto

import "github.com/teaselfuzz/teasel/netproto/dialogue"

// datagramSeeds are requests of well-known protocols over UDP. A port that teasel has chosen does not say which one a server speaks; what it
// answers does, and that is kept and changed.
func datagramSeeds() []Seed {
	ntp := make([]byte, 48)
	ntp[0] = 0x23 // version 4, a client
	one := func(name string, text string) Seed { return Seed{name, dialogue.Raw([]byte(text))} }
	snmp := func(version, request string) string { // asks for sysDescr.0 in the community public
		return "\x30\x26\x02\x01" + version + "\x04\x06public" + request + "\x19\x02\x01\x01\x02\x01\x00\x02\x01\x00\x30\x0e\x30\x0c\x06\x08\x2b\x06\x01\x02\x01\x01\x01\x00\x05\x00"
	}
	mdns := func(id byte) []byte { // asks which kinds of services there are
		return []byte("\x00" + string(rune(id)) + "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x09_services\x07_dns-sd\x04_udp\x05local\x00\x00\x0c\x00\x01")
	}
	return []Seed{
		one("dns", "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x09localhost\x00\x00\x01\x00\x01"),
		{"mdns", dialogue.Raw(mdns(1), mdns(2))}, // a responder may pass over what it had a second ago
		one("snmp-1", snmp("\x00", "\xa0")),
		one("snmp-2c-next", snmp("\x01", "\xa1")),
		{"ntp", dialogue.Raw(ntp)},
		one("ntp-control", "\x16\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), // reads the system's variables
		one("tftp", "\x00\x01file\x00octet\x00"),
		one("coap", "\x40\x01\x00\x01\xbb.well-known\x04core"),
		one("sip", "OPTIONS sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nFrom: <sip:a@127.0.0.1>;tag=1\r\nTo: <sip:127.0.0.1>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"),
		one("stun", "\x00\x01\x00\x00\x21\x12\xa4\x42teaselteasel"),
		one("newline", "\r\n"),
		{"zeros", dialogue.Raw(make([]byte, 16))},
	}
}
