package model

import "testing"

// The check values of the nine bytes 123456789 that the catalogue of CRC algorithms gives.
func TestCRCsOfTheCatalogue(t *testing.T) {
	for name, want := range map[string]uint64{
		"crc-8": 0xf4, "crc-8/maxim": 0xa1, "crc-16/arc": 0xbb3d, "crc-16/modbus": 0x4b37, "crc-16/ibm-3740": 0x29b1, "crc-16/xmodem": 0x31c3,
		"crc-16/kermit": 0x2189, "crc-16/x-25": 0x906e, "crc-16/dnp": 0xea82, "crc-24/openpgp": 0x21cf02, "crc-32": 0xcbf43926,
		"crc-32c": 0xe3069283, "crc-32/bzip2": 0xfc891918, "crc-32/mpeg-2": 0x0376e6e7, "crc-64/xz": 0x995dc9bbdf1939fa, "crc-64/ecma-182": 0x6c40df5f0b497347,
	} {
		c, ok := crcs[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		c.prepare()
		if got := c.sum([]byte("123456789")); got != want {
			t.Errorf("%s: %#x, expected %#x", name, got, want)
		}
	}
}

func TestSums(t *testing.T) {
	// The header of RFC 1071's example, and values that the definitions give by hand.
	for _, test := range []struct {
		name string
		data string
		want uint64
	}{
		{"inet", "\x00\x01\xf2\x03\xf4\xf5\xf6\xf7", 0x220d},
		{"inet", "\x01", 0xfeff},
		{"adler-32", "Wikipedia", 0x11e60398},
		{"fletcher-16", "abcde", 0xc8f0},
		{"fletcher-32", "abcdef", 0x56502d2a},
		{"sum-8", "\xff\x02", 1},
		{"sum-16", "\xff\x02", 0x101},
		{"xor", "\xf0\x0f", 0xff},
		{"lrc", "\x01\x02", 0xfd},
	} {
		if got := sums[test.name]([]byte(test.data)); got != test.want {
			t.Errorf("%s of %q: %#x, expected %#x", test.name, test.data, got, test.want)
		}
	}
}

func TestVarints(t *testing.T) {
	for _, test := range []struct {
		form  VarintForm
		value int64
		bytes string
	}{
		{LEB128, 624485, "\xe5\x8e\x26"},
		{SLEB128, -123456, "\xc0\xbb\x78"},
		{SLEB128, 64, "\xc0\x00"},
		{ZigZag, -2, "\x03"},
		{MQTTInt, 268435455, "\xff\xff\xff\x7f"},
		{MQTTInt, 128, "\x80\x01"},
		{VLQ, 106903, "\x86\xc3\x17"},
		{QUICInt, 15293, "\x7b\xbd"},
		{QUICInt, 494878333, "\x9d\x7f\x3e\x7d"},
		{QUICInt, 151288809941952652, "\xc2\x19\x7c\x5e\xff\x14\xe8\x8c"},
		{ASN1Len, 127, "\x7f"},
		{ASN1Len, 201, "\x81\xc9"},
		{ASN1Len, 65536, "\x83\x01\x00\x00"},
	} {
		got := test.form.write(nil, test.value)
		if string(got) != test.bytes {
			t.Errorf("form %d: %d is %x, expected %x", test.form, test.value, got, test.bytes)
		}
		long := append(got, 0xff)
		if n := test.form.varintLen(long); n != len(test.bytes) {
			t.Errorf("form %d: %x has %d bytes, expected %d", test.form, long, n, len(test.bytes))
		}
		if v := test.form.read(got); v != test.value {
			t.Errorf("form %d: %x is %d, expected %d", test.form, got, v, test.value)
		}
		if n := test.form.varintLen(got[:len(got)-1]); n != 0 {
			t.Errorf("form %d: a cut off %x has %d bytes", test.form, got, n)
		}
	}
}
