package model

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"hash/adler32"
	"maps"
	"math/bits"
	"slices"
)

// A CRC is a cyclic redundancy check in the parameters of the Rocksoft model (Ross Williams, A Painless Guide to CRC
// Error Detection Algorithms), as in the catalogue of Greg Cook. Its width is 8 to 64 bits.
type CRC struct {
	Width         int
	Poly, Init    uint64
	RefIn, RefOut bool
	XorOut        uint64

	table *[256]uint64
}

// crcs are the named ones. The comments give the value of the nine bytes 123456789.
var crcs = map[string]CRC{
	"crc-8":           {Width: 8, Poly: 0x07},                                                                               // f4
	"crc-8/maxim":     {Width: 8, Poly: 0x31, RefIn: true, RefOut: true},                                                    // a1
	"crc-16/arc":      {Width: 16, Poly: 0x8005, RefIn: true, RefOut: true},                                                 // bb3d
	"crc-16/modbus":   {Width: 16, Poly: 0x8005, Init: 0xffff, RefIn: true, RefOut: true},                                   // 4b37
	"crc-16/ibm-3740": {Width: 16, Poly: 0x1021, Init: 0xffff},                                                              // 29b1
	"crc-16/xmodem":   {Width: 16, Poly: 0x1021},                                                                            // 31c3
	"crc-16/kermit":   {Width: 16, Poly: 0x1021, RefIn: true, RefOut: true},                                                 // 2189
	"crc-16/x-25":     {Width: 16, Poly: 0x1021, Init: 0xffff, RefIn: true, RefOut: true, XorOut: 0xffff},                   // 906e
	"crc-16/dnp":      {Width: 16, Poly: 0x3d65, RefIn: true, RefOut: true, XorOut: 0xffff},                                 // ea82
	"crc-24/openpgp":  {Width: 24, Poly: 0x864cfb, Init: 0xb704ce},                                                          // 21cf02
	"crc-32":          {Width: 32, Poly: 0x04c11db7, Init: 0xffffffff, RefIn: true, RefOut: true, XorOut: 0xffffffff},       // cbf43926
	"crc-32c":         {Width: 32, Poly: 0x1edc6f41, Init: 0xffffffff, RefIn: true, RefOut: true, XorOut: 0xffffffff},       // e3069283
	"crc-32/bzip2":    {Width: 32, Poly: 0x04c11db7, Init: 0xffffffff, XorOut: 0xffffffff},                                  // fc891918
	"crc-32/mpeg-2":   {Width: 32, Poly: 0x04c11db7, Init: 0xffffffff},                                                      // 0376e6e7
	"crc-64/xz":       {Width: 64, Poly: 0x42f0e1eba9ea3693, Init: 1<<64 - 1, RefIn: true, RefOut: true, XorOut: 1<<64 - 1}, // 995dc9bbdf1939fa
	"crc-64/ecma-182": {Width: 64, Poly: 0x42f0e1eba9ea3693},                                                                // 6c40df5f0b497347
}

// prepare computes the table, which the methods need.
func (c *CRC) prepare() {
	c.table = new([256]uint64)
	for i := range c.table {
		v := uint64(i) << (64 - 8)
		for range 8 {
			top := v >> 63
			v <<= 1
			if top != 0 {
				v ^= c.Poly << (64 - c.Width)
			}
		}
		c.table[i] = v
	}
}

// sum returns the check value of data. The register is kept in the upper bits, whatever the width.
func (c *CRC) sum(data []byte) uint64 {
	v := c.Init << (64 - c.Width)
	for _, b := range data {
		if c.RefIn {
			b = bits.Reverse8(b)
		}
		v = v<<8 ^ c.table[byte(v>>56)^b]
	}
	v >>= 64 - c.Width
	if c.RefOut {
		v = bits.Reverse64(v) >> (64 - c.Width)
	}
	return v ^ c.XorOut
}

// A Checksum computes a number or a digest.
type Checksum struct {
	Name string
	crc  *CRC
	sum  func(data []byte) uint64
	hash func() hash.Hash
	key  []byte // of an HMAC
	mac  bool
}

var sums = map[string]func([]byte) uint64{
	"inet":        internet,
	"adler-32":    func(b []byte) uint64 { return uint64(adler32.Checksum(b)) },
	"sum-8":       func(b []byte) uint64 { return plainSum(b) & 0xff },
	"sum-16":      func(b []byte) uint64 { return plainSum(b) & 0xffff },
	"sum-32":      func(b []byte) uint64 { return plainSum(b) & 0xffffffff },
	"xor":         xorSum,
	"lrc":         func(b []byte) uint64 { return -plainSum(b) & 0xff },
	"fletcher-16": func(b []byte) uint64 { return fletcher(b, 1, 255) },
	"fletcher-32": func(b []byte) uint64 { return fletcher(b, 2, 65535) },
}

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// checksumNames returns what a model may name.
func checksumNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(crcs)), maps.Keys(sums))
	for name := range hashes {
		names = append(names, name, "hmac-"+name)
	}
	slices.Sort(names)
	return names
}

// digest appends the result to dst, a number in big endian order, and says whether it is a number.
func (c *Checksum) digest(data []byte) (number uint64, digest []byte) {
	switch {
	case c.crc != nil:
		return c.crc.sum(data), nil
	case c.sum != nil:
		return c.sum(data), nil
	}
	var h hash.Hash
	if c.mac {
		h = hmac.New(c.hash, c.key)
	} else {
		h = c.hash()
	}
	h.Write(data)
	return 0, h.Sum(nil)
}

func plainSum(b []byte) (s uint64) {
	for _, c := range b {
		s += uint64(c)
	}
	return s
}

func xorSum(b []byte) (s uint64) {
	for _, c := range b {
		s ^= uint64(c)
	}
	return s
}

// internet is the checksum of RFC 1071.
func internet(b []byte) uint64 {
	var s uint64
	for i, c := range b {
		if i%2 == 0 {
			s += uint64(c) << 8
		} else {
			s += uint64(c)
		}
	}
	for s > 0xffff {
		s = s&0xffff + s>>16
	}
	return ^s & 0xffff
}

// fletcher is Fletcher's checksum over words of little endian order.
func fletcher(b []byte, word int, mod uint64) uint64 {
	var s1, s2 uint64
	for len(b) > 0 {
		n := min(word, len(b))
		s1 = (s1 + readInt(b[:n], true)) % mod
		s2 = (s2 + s1) % mod
		b = b[n:]
	}
	return s2<<(8*word) | s1
}
