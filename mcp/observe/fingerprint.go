package observe

import (
	"math/bits"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// FNV-1a, 64 bits, which is the same in every process.
const (
	Offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// HashString adds a string to a hash, which begins as [Offset64].
func HashString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime64
	}
	return (h ^ 0xff) * prime64 // the end, so that "a","b" is not "ab",""
}

// HashBytes adds bytes to a hash.
func HashBytes(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * prime64
	}
	return (h ^ 0xff) * prime64
}

// HashNumber adds a number to a hash.
func HashNumber(h, n uint64) uint64 {
	for range 8 {
		h = (h ^ n&0xff) * prime64
		n >>= 8
	}
	return h
}

// feature makes a feature of a hash: never 0 and below the state bit.
func feature(h uint64) teasel.Feature {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return teasel.Feature(h>>1 | 1)
}

// What a fingerprint takes in of one answer.
const (
	shapeDepth   = 5
	shapeNodes   = 48
	shapeLeaves  = 3
	shapeMembers = 16
	shortText    = 240 // bytes; a longer text counts by its class only
	textItems    = 2
)

// Of features, the first word of the hash.
const (
	featureOutcome = 1 + iota
	featureShape
	featureLeaf
	featureText
	featureLength
	featureUnasked
	featureEnd
)

// Fingerprint appends the features of what a script brought out of a server: who answered how, in which words, with a
// result of which shape. Nothing in it depends on time, and what we sent ourselves is taken out, so that a server that
// gives back whatever it gets has few features. It is our own; response fingerprints as such are in many fuzzers.
func Fingerprint(dst []teasel.Feature, t *script.Transcript) []teasel.Feature {
	p := printer{features: dst, session: t.Session}
	for i := range t.Sent {
		s := &t.Sent[i]
		p.subject = HashString(Offset64, session.Subject(t.Session, &s.Message))
		if t.Script != nil && len(t.Script.Steps) > 1 && s.Step < len(t.Script.Steps) && script.HasReference(t.Script.Steps[s.Step].Line) {
			p.subject = HashString(p.subject, captured)
		}
		switch {
		case s.Answer >= 0 && s.Answer < len(t.Received) && !s.Withdrawn: // else it is the clock's doing whether one came
			p.answer(s, &t.Received[s.Answer])
		case s.Message.Class == jsonrpc.ClassRequest:
			p.add(featureOutcome, HashNumber(p.subject, uint64(script.OutcomeNone)))
		}
	}
	p.unasked(t)
	if t.End.Kind != script.EndInvalid && t.End.Kind != script.EndKilled {
		h := HashString(HashNumber(Offset64, uint64(t.End.Kind)), t.End.Signal)
		p.add(featureEnd, HashNumber(h, uint64(t.End.Code)))
	}
	return p.features
}

// printer makes the features of one script.
type printer struct {
	features []teasel.Feature
	session  *session.Session
	subject  uint64
	echo     Echo
	sent     *mutate.JSON // the arguments of the request
	nodes    int
	leaves   int
	buf      [512]byte
}

// maxFeatures bounds what one script may come to.
const maxFeatures = 256

func (p *printer) add(kind int, h uint64) {
	f := feature(HashNumber(h, uint64(kind)))
	if len(p.features) >= maxFeatures {
		return
	}
	for i := len(p.features) - 1; i >= max(0, len(p.features)-16); i-- {
		if p.features[i] == f {
			return
		}
	}
	p.features = append(p.features, f)
}

func (p *printer) answer(s *script.Sent, r *script.Received) {
	m := &r.Message
	p.echo.reset()
	p.sent = s.Message.Params
	p.echo.AddTree(s.Message.Params)
	h := HashNumber(p.subject, uint64(script.OutcomeOf(r)))
	if m.Error != nil {
		code, _ := m.Error.Get("code").Int()
		message, _ := m.Error.Get("message").Str()
		p.add(featureOutcome, oneOfFew(HashNumber(h, uint64(code)), p.words(message)))
		return
	}
	p.add(featureOutcome, h)
	p.nodes, p.leaves = 0, 0
	p.add(featureShape, p.shape(h, m.Result, 0))
	p.texts(h, m.Result)
}

// fewWords is how many texts of one kind of answer are told apart. Servers word their refusals in more ways than there
// are reasons for them, above all when a word that we sent stands in the server's own sentence.
const fewWords = 48

func oneOfFew(h uint64, words []byte) uint64 {
	return HashNumber(h, HashBytes(Offset64, words)%fewWords)
}

// words normalises the beginning of a text.
func (p *printer) words(text string) []byte {
	return AppendNormal(p.buf[:0], jsonrpc.CutBytes(text, shortText), &p.echo)
}

// texts takes in what the content of a result says, when it is short enough to have been written by the program.
func (p *printer) texts(h uint64, result *mutate.JSON) {
	items := result.Get("content")
	member := "text"
	if items == nil {
		items = result.Get("contents")
	}
	if items == nil {
		items, member = result.Get("messages"), "content"
	}
	if items == nil || items.Kind != mutate.Array {
		return
	}
	for i, item := range items.Items {
		if i >= textItems {
			return
		}
		v := item.Get(member)
		if member == "content" {
			v = v.Get("text")
		}
		text, ok := v.Str()
		if !ok {
			continue
		}
		if len(text) > shortText {
			p.add(featureLength, HashNumber(HashNumber(h, uint64(i)), uint64(bits.Len(uint(len(text)))/3)))
			continue
		}
		p.add(featureText, oneOfFew(HashNumber(h, uint64(i)), p.words(text)))
		p.add(featureLength, HashNumber(HashNumber(h, uint64(i)), uint64(bits.Len(uint(len(text))))))
	}
}

// shape takes in the names and kinds of a result's members. Names that we sent, and values that are the arguments
// themselves, count as an echo.
func (p *printer) shape(h uint64, v *mutate.JSON, depth int) uint64 {
	if v == nil || depth > shapeDepth || p.nodes >= shapeNodes {
		return HashNumber(h, 0)
	}
	p.nodes++
	h = HashNumber(h, uint64(v.Kind))
	switch v.Kind {
	case mutate.String:
		p.leaf(h, classOf(v.Text, &p.echo))
	case mutate.Number:
		p.leaf(h, numberClass(v.Text))
	case mutate.Bool:
		p.leaf(h, uint64(len(v.Text)))
	case mutate.Array:
		if p.isEcho(v) {
			return HashString(h, "echo")
		}
		h = HashNumber(h, uint64(bits.Len(uint(len(v.Items)))))
		if len(v.Items) > 0 {
			h = p.shape(h, v.Items[0], depth+1)
		}
	case mutate.Object:
		if p.isEcho(v) {
			return HashString(h, "echo")
		}
		if len(v.Members) > shapeMembers {
			return HashNumber(h, uint64(bits.Len(uint(len(v.Members)))))
		}
		for i := range v.Members {
			name := v.Members[i].Name
			if p.echo.length(name, 0) >= len(name) && len(name) >= 3 && depth > 1 {
				name = "echo"
			}
			h = p.shape(HashString(h, name), v.Members[i].Value, depth+1)
		}
	}
	return h
}

// leaf adds what kind of text or number stands at a place, for the first few places.
func (p *printer) leaf(place, class uint64) {
	if p.leaves < shapeLeaves {
		p.leaves++
		p.add(featureLeaf, HashNumber(place, class))
	}
}

// isEcho reports whether a value is part of what was sent.
func (p *printer) isEcho(v *mutate.JSON) bool {
	arguments := p.sent.Get("arguments")
	if arguments == nil || len(v.Items)+len(v.Members) == 0 {
		return false
	}
	if sameSize(v, arguments) && v.Equal(arguments) {
		return true
	}
	for i := range arguments.Members {
		if w := arguments.Members[i].Value; w != nil && sameSize(v, w) && v.Equal(w) {
			return true
		}
	}
	return false
}

// sameSize is a cheap look before two values are compared for good.
func sameSize(v, w *mutate.JSON) bool {
	return v.Kind == w.Kind && len(v.Items) == len(w.Items) && len(v.Members) == len(w.Members) &&
		(len(v.Members) == 0 || w.Get(v.Members[0].Name) != nil)
}

// classOf tells texts apart by what they look like.
func classOf(s string, e *Echo) uint64 {
	switch {
	case s == "":
		return 1
	case len(s) >= 3 && e.length(s, 0) >= len(s):
		return 2
	case len(s) > 4096:
		return 3
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		return 4
	case s[0] == '/' || strings.HasPrefix(s, "file:"):
		return 5
	case s[0] == '{' || s[0] == '[':
		return 6
	case s[0] >= '0' && s[0] <= '9' || s[0] == '-':
		return 7
	case len(s) == 36 && isUUID(s):
		return 8
	}
	return 9
}

// numberClass tells numbers apart by sign and size.
func numberClass(text string) uint64 {
	switch {
	case text == "0":
		return 1
	case strings.HasPrefix(text, "-"):
		return 2
	case !jsonrpc.IsInteger(text):
		return 3
	case len(text) > 9:
		return 4
	}
	return 5
}

// unasked takes in what came without having been asked for.
func (p *printer) unasked(t *script.Transcript) {
	for i := range t.Received {
		m := &t.Received[i].Message
		switch {
		case m.Class == jsonrpc.ClassRequest:
			p.add(featureUnasked, HashString(HashString(Offset64, t.AskedDuring(i)), m.Method))
		case m.Method != "":
			p.add(featureUnasked, HashString(Offset64, m.Method))
		case t.Received[i].Sent < 0:
			h := HashNumber(Offset64, uint64(m.Class))
			if m.Error != nil {
				code, _ := m.Error.Get("code").Int()
				h = HashNumber(h, uint64(code))
			}
			p.add(featureUnasked, h)
		}
	}
}
