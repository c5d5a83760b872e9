package forkserver

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
)

// encode returns what a server sends: words and bytes.
func encode(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.NativeEndian.AppendUint32(b, uint32(p))
		case string:
			b = append(b, p...)
		}
	}
	return b
}

func TestHello(t *testing.T) {
	for _, test := range []struct {
		name   string
		sent   []byte
		want   Hello
		answer []uint32
		err    string
	}{
		{"AFL", encode(0), Hello{MapSize: 65536}, nil, ""},
		{"old", encode(0x80000001 | 0x40000000 | 0x02000000 | (1000-1)<<1), Hello{Dialect: 1, MapSize: 1000}, nil, ""},
		{"old, shared", encode(0x80000001 | 0x40000000 | 0x01000000 | (64-1)<<1), Hello{Dialect: 1, MapSize: 64, Shared: true}, []uint32{0x81000001}, ""},
		{"old, dictionary", encode(0x80000001|0x40000000|0x11000000|(64-1)<<1, 6, "\x03abc\x01z"),
			Hello{Dialect: 1, MapSize: 64, Shared: true, Tokens: []string{"abc", "z"}}, []uint32{0x91000001}, ""},
		{"old, before the bits", encode(0x80000001 | 0x40000000 | 0x0f000000 | (64-1)<<1), Hello{Dialect: 1, MapSize: 64}, nil, ""},
		{"old, no room", encode(0xf800008f | 1<<8), Hello{}, nil, "larger than the shared memory"},
		{"old, cmplog", encode(0xf800008f | 32<<8), Hello{}, nil, "cmplog"},
		{"new", encode(0x41464c01, 1, 9000000, 0x41464c01), Hello{Dialect: 2, MapSize: 9000000}, []uint32{0xbeb9b3fe}, ""},
		{"new, all", encode(0x41464c01, 0x803, 100, 5, "\x02ab\x01c", 0x41464c01),
			Hello{Dialect: 2, MapSize: 100, Shared: true, Tokens: []string{"ab", "c"}}, []uint32{0xbeb9b3fe}, ""},
		{"new, cut dictionary", encode(0x41464c01, 0x801, 100, 4, "\x02ab\x09", 0x41464c01),
			Hello{Dialect: 2, MapSize: 100, Tokens: []string{"ab"}}, []uint32{0xbeb9b3fe}, ""},
		{"newer than new", encode(0x41464c02), Hello{}, nil, "version 2"},
		{"new, no room", encode(0xeffe0001), Hello{}, nil, "larger than the shared memory"},
		{"new, no room after the answer", encode(0x41464c01, 0xeffe0001), Hello{}, []uint32{0xbeb9b3fe}, "larger than the shared memory"},
		{"new, other end", encode(0x41464c01, 1, 100, 7), Hello{}, []uint32{0xbeb9b3fe}, "0x7"},
		{"huge dictionary", encode(0x41464c01, 0x801, 100, 1<<30), Hello{}, []uint32{0xbeb9b3fe}, "dictionary"},
		{"cut off", encode(0x41464c01, 1), Hello{}, []uint32{0xbeb9b3fe}, "EOF"},
	} {
		var answer []uint32
		rest := strings.NewReader(string(test.sent))
		data := func(n int) ([]byte, error) {
			b := make([]byte, n)
			_, err := io.ReadFull(rest, b)
			return b, err
		}
		word := func() (uint32, error) {
			b, err := data(4)
			return binary.NativeEndian.Uint32(b), err
		}
		h, err := hello(word, data, func(w uint32) error { answer = append(answer, w); return nil })
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", test.name, err, test.err)
			}
		} else if err != nil || h.Dialect != test.want.Dialect || h.MapSize != test.want.MapSize || h.Shared != test.want.Shared || !slices.Equal(h.Tokens, test.want.Tokens) {
			t.Errorf("%s: %+v, %v, want %+v", test.name, h, err, test.want)
		}
		if !slices.Equal(answer, test.answer) {
			t.Errorf("%s: answered %x, want %x", test.name, answer, test.answer)
		}
		if rest.Len() > 0 && err == nil {
			t.Errorf("%s: %d bytes were not read", test.name, rest.Len())
		}
	}
}

func TestRequestedMapSize(t *testing.T) {
	for text, want := range map[string]int{
		"Warning: AFL++ tools might need to set AFL_MAP_SIZE to 9000001 to be able": 9000001,
		"please set AFL_MAP_SIZE=70000":                                             70000,
		"nothing of the kind":                                                       0,
	} {
		if got := requestedMapSize([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
