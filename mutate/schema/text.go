package schema

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// text describes the strings that a variant allows.
type text struct {
	min, max int // code points; max is -1 if there is no limit
	patterns []*pattern
	formats  []*jsonschema.Format
	base64   bool
	media    *jsonschema.MediaType
	content  *goal // of the JSON in the text; nil: none
	sure     string
	check    bool
}

// The maximum lengths of strings that need not be longer.
const (
	longText     = 4 << 10
	longHostile  = 64 << 10
	hugeHostile  = 1 << 20
	textAttempts = 40
)

func (b *builder) mergeText(v *variant) {
	if v.types&stringType == 0 {
		return
	}
	t := &text{max: -1}
	for _, a := range v.way.atoms {
		if a.MinLength != nil {
			t.min = max(t.min, *a.MinLength)
		}
		if a.MaxLength != nil && (t.max < 0 || *a.MaxLength < t.max) {
			t.max = *a.MaxLength
		}
		if p, ok := a.Pattern.(*pattern); ok {
			t.patterns = append(t.patterns, p)
		}
		if a.Format != nil {
			t.formats = append(t.formats, a.Format)
		}
		if a.ContentEncoding != nil {
			t.base64 = true
		}
		if a.ContentMediaType != nil {
			t.media = a.ContentMediaType
			if a.ContentSchema != nil {
				t.content = b.goal(a.ContentSchema)
			} else {
				t.content = b.goal()
			}
		}
	}
	v.text = t
	if !t.settle() {
		v.types &^= stringType
		if v.goal.why == nil && !v.twisted {
			for _, a := range v.way.atoms {
				if a.Pattern != nil || a.Format != nil {
					keyword := "pattern"
					if a.Pattern == nil {
						keyword = "format"
					}
					v.goal.why = &SkipError{Keyword: keyword, Where: schemaPointer(a.Location), Reason: "no string was found that also meets the other keywords"}
				}
			}
		}
	}
}

// settle finds an allowed string, which is used if drawing fails. It does not draw from content yet.
func (t *text) settle() bool {
	if t.max >= 0 && t.min > t.max {
		return false
	}
	if t.content != nil {
		t.check = true
		return true
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		for hostile := range 2 {
			if s := t.candidate(r, nil, hostile == 1); t.allows(s) {
				t.sure = s
				return true
			}
		}
	}
	return false
}

// allows reports whether s satisfies all keywords except those of the content.
func (t *text) allows(s string) bool {
	if t.min > 0 || t.max >= 0 {
		if n := utf8.RuneCountInString(s); n < t.min || t.max >= 0 && n > t.max {
			return false
		}
	}
	for _, p := range t.patterns {
		if !p.MatchString(s) {
			return false
		}
	}
	for _, f := range t.formats {
		if f.Validate(s) != nil {
			return false
		}
	}
	if t.base64 {
		if _, err := base64.StdEncoding.DecodeString(s); err != nil {
			return false
		}
	}
	return true
}

// plain reports whether there are no constraints but those of the length.
func (t *text) plain() bool { return len(t.patterns) == 0 && len(t.formats) == 0 && !t.base64 }

// draw returns an allowed string.
func (t *text) draw(d *draw) string {
	if t.content != nil {
		return t.drawContent(d)
	}
	words := d.words
	hostile := d.hostile && d.r.IntN(4) > 0
	if t.plain() {
		return t.candidate(d.r, words, hostile)
	}
	for try := range textAttempts {
		if s := t.candidate(d.r, words, hostile && try < 8); t.allows(s) {
			return s
		}
	}
	return t.sure
}

func (t *text) drawContent(d *draw) string {
	d.depth++
	s := t.content.draw(d).String()
	d.depth--
	if t.base64 {
		return base64.StdEncoding.EncodeToString([]byte(s))
	}
	return s
}

// candidate returns a string that satisfies the first of the keywords and the length, and possibly the others.
func (t *text) candidate(r *rand.Rand, words []string, hostile bool) string {
	high := t.max
	if high < 0 {
		high = max(longText, t.min)
		for _, p := range t.patterns {
			high = max(high, p.tree.low)
		}
	}
	switch {
	case len(t.patterns) > 0 && (len(t.formats) == 0 || r.IntN(2) == 0):
		if hostile && r.IntN(4) == 0 { // the maximum length
			s, _ := t.patterns[0].sample(r, max(t.min, min(high, longText)), high)
			return s
		}
		s, _ := t.patterns[r.IntN(len(t.patterns))].sample(r, t.min, high)
		return s
	case len(t.formats) > 0:
		return t.ofFormat(r, hostile)
	case t.base64:
		n := t.min / 4 * 3
		return base64.StdEncoding.EncodeToString(drawBytes(r, n+r.IntN(24)))
	case hostile:
		return fit(hostileText(r), t.min, t.max)
	case len(words) > 0 && r.IntN(2) == 0:
		if s := words[r.IntN(len(words))]; t.allows(s) {
			return s
		}
	}
	return randomText(r, t.length(r, high))
}

func (t *text) ofFormat(r *rand.Rand, hostile bool) string {
	f := formats[t.formats[r.IntN(len(t.formats))].Name]
	var s string
	switch {
	case len(f.hostile) > 0 && (hostile || f.draw == nil || r.IntN(16) == 0):
		s = f.hostile[r.IntN(len(f.hostile))]
	case f.draw != nil:
		s = f.draw(r)
	default:
		return randomText(r, t.length(r, max(t.min, 64)))
	}
	if missing := t.min - utf8.RuneCountInString(s); missing > 0 {
		at := [...]int{len(s), 0, strings.IndexByte(s, '.') + 1, strings.LastIndexByte(s, '/') + 1}[r.IntN(4)]
		s = s[:at] + strings.Repeat("a", missing) + s[at:]
	}
	return s
}

// length returns a random length between the limits: mostly short, often a boundary value.
func (t *text) length(r *rand.Rand, high int) int {
	if high <= t.min {
		return t.min
	}
	span := high - t.min
	switch r.IntN(64) {
	case 0:
		return t.min + r.IntN(min(span, longText)+1)
	case 1, 2, 3, 4:
		return t.min + r.IntN(min(span, 200)+1)
	case 5, 6, 7, 8, 9, 10, 11:
		return t.min
	case 12, 13, 14, 15, 16:
		return t.min + 1
	case 17, 18, 19, 20, 21:
		if t.max >= 0 {
			return min(high, max(t.min, longText))
		}
	}
	return t.min + r.IntN(min(span, 12)+1)
}

var someRunes = []rune("aZ09 _-.,:;/\\\"'<>&%$#@!?*()[]{}=+|~^`\t\né߀漢字かな한글Жאα😀\u00a0\u200b")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	b.Grow(n)
	switch r.IntN(8) {
	case 0:
		for range n {
			b.WriteRune(someRunes[r.IntN(len(someRunes))])
		}
	case 1, 2:
		for range n {
			b.WriteByte(byte(' ' + r.IntN(95)))
		}
	default:
		var bits uint64
		for i := range n {
			if i%12 == 0 {
				bits = r.Uint64()
			}
			b.WriteByte("abcdefghijklmnopqrstuvwxyz012345"[bits&31])
			bits >>= 5
		}
	}
	return b.String()
}

// hostileText returns one of the hostile strings, sometimes a very long one.
func hostileText(r *rand.Rand) string {
	s := hostileStrings[r.IntN(len(hostileStrings))]
	switch n := r.IntN(4096); {
	case n == 0:
		return repeatTo(s, hugeHostile)
	case n < 16:
		return repeatTo(s, longHostile)
	}
	return s
}

func repeatTo(s string, n int) string {
	if s == "" {
		s = "a"
	}
	return strings.Repeat(s, n/len(s)+1)
}

// fit truncates s to high code points, unless high < 0, and repeats it to at least low.
func fit(s string, low, high int) string {
	n := utf8.RuneCountInString(s)
	if n < low {
		if s == "" {
			s, n = "a", 1
		}
		s = strings.Repeat(s, low/n+1)
		n *= low/n + 1
		if high < 0 {
			high = low
		}
	}
	if high >= 0 && n > high {
		for i := range s {
			if high == 0 {
				return s[:i]
			}
			high--
		}
	}
	return s
}
