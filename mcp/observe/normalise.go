package observe

import (
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// What stands in a normalised text for what varies from one run to the next.
const (
	echoMark   = '*' // what we had sent ourselves
	NumberMark = '0'
	TokenMark  = '#' // ids, hashes, timestamps
)

// Echo knows which pieces of three characters we sent, in any case of letters. It may take a piece for one of ours that is
// not, never the other way round.
type Echo struct {
	grams [512]uint64
	used  bool
}

// echoText is how much of one request is taken in: longer ones would mark everything.
const echoText = 4096

func (e *Echo) reset() {
	if e.used {
		*e = Echo{}
	}
}

// AddTree takes in the strings, names and numbers of a value.
func (e *Echo) AddTree(v *mutate.JSON) {
	e.add(v, echoText)
}

func (e *Echo) add(v *mutate.JSON, room int) int {
	if v == nil || room <= 0 {
		return room
	}
	switch v.Kind {
	case mutate.String, mutate.Number, mutate.Bool, mutate.Raw:
		return e.addText(v.Text, room)
	case mutate.Null:
		return e.addText("null", room)
	case mutate.Array:
		for _, item := range v.Items {
			room = e.add(item, room)
		}
	case mutate.Object:
		for i := range v.Members {
			room = e.addText(v.Members[i].Name, room)
			room = e.add(v.Members[i].Value, room)
		}
	}
	return room
}

func (e *Echo) addText(s string, room int) int {
	s = s[:min(len(s), max(0, room))]
	for i := 0; i+3 <= len(s); i++ {
		h := gram(s[i], s[i+1], s[i+2])
		e.grams[h>>6] |= 1 << (h & 63)
		e.used = true
	}
	return room - len(s)
}

// at reports whether the three bytes at i are a piece of what was sent.
func (e *Echo) at(s string, i int) bool {
	h := gram(s[i], s[i+1], s[i+2])
	return e.grams[h>>6]&(1<<(h&63)) != 0
}

// Has reports whether all of a word was sent. One of less than three bytes was not, as far as is known.
func (e *Echo) Has(word string) bool {
	for i := 0; i+3 <= len(word); i++ {
		if !e.at(word, i) {
			return false
		}
	}
	return len(word) >= 3
}

func gram(a, b, c byte) uint32 {
	h := uint32(lower(a)) | uint32(lower(b))<<8 | uint32(lower(c))<<16
	h *= 0x9e3779b1
	return h >> 17
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// length returns how many bytes at i are echo: 0, or at least 3.
func (e *Echo) length(s string, i int) int {
	if e == nil || !e.used {
		return 0
	}
	n := 0
	for i+n+3 <= len(s) && e.at(s, i+n) {
		n++
	}
	if n == 0 {
		return 0
	}
	return n + 2
}

// AppendNormal appends the words of a text with everything taken out that varies: what we sent, numbers, ids,
// punctuation, words of one or two letters. What is left tells one message of a program from another.
func AppendNormal(dst []byte, s string, e *Echo) []byte {
	start := len(dst)
	put := func(mark byte) {
		// Marks swallow one another, so that a list of five numbers is one of six.
		if n := len(dst); n > start && (dst[n-1] == echoMark || dst[n-1] == NumberMark || dst[n-1] == TokenMark) {
			if mark == echoMark {
				dst[n-1] = echoMark
			}
			return
		}
		dst = append(dst, mark)
	}
	for i := 0; i < len(s); {
		if n := e.length(s, i); n > 0 {
			put(echoMark)
			i += n
			continue
		}
		if !IsWordByte(s[i]) {
			i++
			continue
		}
		if i+36 <= len(s) && isUUID(s[i:i+36]) {
			put(TokenMark)
			i += 36
			continue
		}
		end, letters, digits := i, 0, 0
		for end < len(s) && IsWordByte(s[end]) {
			if end > i && e.length(s, end) > 0 {
				break
			}
			if s[end] >= '0' && s[end] <= '9' {
				digits++
			} else {
				letters++
			}
			end++
		}
		switch {
		case letters == 0:
			put(NumberMark)
		case end-i <= 2 && digits == 0:
			// Too short to be told from a piece of what we sent.
		case digits > 0 || letters > 24:
			put(TokenMark)
		default:
			if n := len(dst); n > start {
				dst = append(dst, ' ')
			}
			dst = append(dst, s[i:end]...)
		}
		i = end
	}
	return dst
}

// IsWordByte reports whether a byte may be part of a word.
func IsWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

func isUUID(s string) bool {
	for i := range 36 {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// EchoOf returns the echo of one request; nil: of none.
func EchoOf(s *script.Sent) *Echo {
	e := new(Echo)
	if s != nil {
		e.AddTree(s.Message.Params)
	}
	return e
}
