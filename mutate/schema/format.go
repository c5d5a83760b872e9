package schema

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// format describes a value of the format keyword.
type format struct {
	draw    func(r *rand.Rand) string
	hostile []string        // hostile strings that conform
	near    []string        // strings that almost conform
	check   func(any) error // our own check, if the validator has none
	bits    int             // size, for a format of integers
}

// ownFormatNames are the formats that are added to the validator.
var ownFormatNames = []string{"idn-email", "idn-hostname", "byte", "base64", "int32", "int64"}

// formats are the known formats by name. All others are treated as annotations, which allow any string.
var formats = map[string]format{
	"date-time": {
		draw: func(r *rand.Rand) string { return drawDate(r) + "T" + drawTime(r) },
		hostile: []string{"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z", "2038-01-19T03:14:08Z",
			"1990-12-31T23:59:60Z", "2000-02-29t12:00:00z", "2024-01-01T00:00:00+23:59", "1985-04-12T23:20:50.00000000000000000000001Z"},
		near: []string{"2023-02-29T00:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z",
			"2024-01-01T00:00:61Z", "2024-01-01T00:00:00+24:00", "2024-1-1T00:00:00Z", "24-01-01T00:00:00Z", "1704067200", "", "now"},
	},
	"date": {
		draw:    drawDate,
		hostile: []string{"0000-01-01", "9999-12-31", "1970-01-01", "2000-02-29", "1582-10-10"},
		near:    []string{"2023-02-29", "2024-02-30", "2024-13-01", "2024-00-10", "2024-1-1", "20240101", "2024/01/01", "12024-01-01", "", "today"},
	},
	"time": {
		draw:    drawTime,
		hostile: []string{"00:00:00Z", "23:59:60Z", "23:59:59.999999999999Z", "00:00:00+23:59", "12:00:00z"},
		near:    []string{"24:00:00Z", "12:60:00Z", "12:00:61Z", "12:00:00", "12:00Z", "12:00:00+24:00", "1:00:00Z", "", "noon"},
	},
	"duration": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"P%dD", "PT%dH", "PT%dM", "PT%dS", "P%dY", "P%dM", "P%dW", "P1Y2M%dDT4H5M6S"}, r.IntN(60))
		},
		hostile: []string{"P0D", "PT0S", "P99999999999999999999Y", "P9999Y11M30DT23H59M59S", "P4294967296W"},
		near:    []string{"P", "PT", "1D", "P1H", "P1D2Y", "P-1D", "P1.5D", "p1d", "P1Y2W", ""},
	},
	"email": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"user%d@example.invalid", "a%d@example.test", "first.last+%d@mail.example.invalid"}, r.IntN(1000))
		},
		hostile: []string{`"a b"@example.invalid`, `"@"@example.invalid`, "a@[127.0.0.1]", "a@[IPv6:::1]", "a@b", "'or'1'='1@example.invalid",
			"!#$%&'*+-/=?^_`{|}~@example.invalid", strings.Repeat("a", 64) + "@example.invalid"},
		near: []string{"example.invalid", "a@", "a@@example.invalid", "a b@example.invalid", ".a@example.invalid", "a..b@example.invalid",
			"a@-example.invalid", "a@example.invalid\n", strings.Repeat("a", 65) + "@example.invalid", ""},
	},
	"idn-email": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"用户%d@例え.invalid", "jörg%d@bücher.invalid"}, r.IntN(100))
		},
		hostile: []string{"a@xn--e1afmkfd.invalid", "\u202ea@example.invalid", "İ@example.invalid"},
		near:    []string{"例え", "@例え.invalid", "a@", "a b", ""},
		check:   checkIDNEmail,
	},
	"hostname": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"host%d.example.invalid", "a%d.test", "x-%d.example.invalid"}, r.IntN(1000))
		},
		hostile: []string{"localhost", "a", "127.0.0.1", "0", "xn--nxasmq6b.invalid", strings.Repeat("a", 63) + ".invalid", "LOCALHOST", "a--b.invalid"},
		near: []string{"-a.invalid", "a-.invalid", "a..invalid", "a_b.invalid", "a b.invalid", strings.Repeat("a", 64) + ".invalid", "ä.invalid",
			"a.invalid\x00", ".invalid", "a.invalid/", "a.invalid:80"},
	},
	"idn-hostname": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"例え%d.invalid", "bücher%d.invalid"}, r.IntN(100))
		},
		hostile: []string{"localhost", "xn--nxasmq6b.invalid", "ß.invalid", "ＡＢＣ.invalid"},
		near:    []string{"-例え.invalid", "例え-.invalid", "a..invalid", "a b.invalid", strings.Repeat("例", 64) + ".invalid", ""},
		check:   checkIDNHostname,
	},
	"ipv4": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"127.0.0.%d", "127.1.2.%d", "192.0.2.%d", "198.51.100.%d", "203.0.113.%d"}, r.IntN(256))
		},
		hostile: []string{"0.0.0.0", "127.0.0.1", "127.255.255.254"},
		near: []string{"256.0.0.1", "127.0.0", "127.0.0.1.1", "127.0.0.01", "127.0.0.1 ", "0x7f.0.0.1", "127.1", "2130706433", "127.0.0.-1",
			"127.0.0.1/8", "127.0.0.1\n", "::1", ""},
	},
	"ipv6": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"2001:db8::%x", "2001:db8:0:1::%x", "2001:db8:1:2:3:4:5:%x"}, r.IntN(65536))
		},
		hostile: []string{"::", "::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1", "2001:DB8::A", "2001:0db8:0000:0000:0000:0000:0000:0001"},
		near:    []string{":::1", "1::2::3", "12345::", "::g", "::1%lo", "127.0.0.1", "[::1]", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", ":", "::1 ", ""},
	},
	"uri":           uriFormat,
	"iri":           uriFormat,
	"uri-reference": referenceFormat,
	"iri-reference": referenceFormat,
	"uri-template": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"https://example.invalid/{id%d}", "/items/{name}/%d", "https://example.invalid/a/b%d"}, r.IntN(100))
		},
		hostile: []string{"/{a}{b}{c}", "{a}", "", "/{+path}/here"},
		near:    []string{"/{a", "/a}", "/{{a}}", "/%zz", "http://[::1", "/{a}/{"},
	},
	"uuid": {
		draw: func(r *rand.Rand) string {
			return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), 0x8000|r.IntN(1<<14), r.Uint64N(1<<48))
		},
		hostile: []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"},
		near: []string{"00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000", "00000000000000000000000000000000",
			"{00000000-0000-0000-0000-000000000000}", "00000000-0000-0000-0000-00000000000g", "urn:uuid:00000000-0000-0000-0000-000000000000", ""},
	},
	"json-pointer": {
		draw:    func(r *rand.Rand) string { return pick(r, []string{"/a/%d", "/items/%d/name", "/%d"}, r.IntN(10)) },
		hostile: []string{"", "/", "//", "/~0~1", "/-", "/__proto__", "/constructor/prototype", "/" + strings.Repeat("a/", 200)},
		near:    []string{"a", "#/a", "/~", "/~2", "/a/~", " /a"},
	},
	"relative-json-pointer": {
		draw:    func(r *rand.Rand) string { return pick(r, []string{"%d", "%d/a", "%d#", "%d/a/b"}, r.IntN(10)) },
		hostile: []string{"0", "0#", "4294967296", "99999999999999999999/a", "0/__proto__"},
		near:    []string{"/a", "-1/a", "01/a", "0##", "#", "0a", ""},
	},
	"regex": {
		draw:    func(r *rand.Rand) string { return pick(r, []string{"^a{%d}$", "[a-z]{0,%d}", "x|y{%d}"}, r.IntN(10)) },
		hostile: []string{"", "(a+)+$", "(a|a)*$", ".*.*.*=.*", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "[^]", "a{0,1000}"},
		near:    []string{"(", ")", "[", "a{2,1}", "*", "+a", "\\", "(?<", "[z-a]", "a**"},
	},
	"byte":   base64Format,
	"base64": base64Format,
	"int32":  {bits: 32, check: func(v any) error { return checkInteger(v, 32) }},
	"int64":  {bits: 64, check: func(v any) error { return checkInteger(v, 64) }},
	"password": {draw: func(r *rand.Rand) string {
		return pick(r, []string{"Passw0rd!%d", "correct horse battery %d"}, r.IntN(1000))
	}},
	"semver": {
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"1.%d.0", "0.0.%d", "2.3.%d-rc.1+build.5"}, r.IntN(50))
		},
		hostile: []string{"0.0.0", "99999999999999999999.0.0", "1.0.0--", "1.0.0-0.x.y+0"},
		near:    []string{"1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0+", ""},
	},
	"period": {
		draw:    func(r *rand.Rand) string { return drawDate(r) + "T00:00:00Z/P1D" },
		hostile: []string{"P1D/2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z/2024-01-01T00:00:00Z"},
		near:    []string{"2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z/", "/P1D", "P1D/P1D", ""},
	},
}

var (
	uriFormat = format{
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"https://example.invalid/%d", "http://127.0.0.1:1/a?b=%d", "urn:example:a%d", "https://user@example.invalid:8443/a/b#%d"}, r.IntN(1000))
		},
		hostile: []string{"file:///proc/version", "http://127.0.0.1:1/", "http://[::1]:1/", "http://0:1/", "http://localhost:1/%2e%2e/%2e%2e/", "data:text/plain,x",
			"javascript:1", "HTTP://EXAMPLE.INVALID", "http://a:b@127.0.0.1:1/", "http://example.invalid#@127.0.0.1:1/", "a:", "file://localhost/proc/self/status",
			"http://127.0.0.1:1/?" + strings.Repeat("a=1&", 200)},
		near: []string{"example.invalid/a", "//example.invalid", "/a", "http://[::1", "http://a b.invalid/", "http://example.invalid/%zz", "://a", "http://example.invalid:port/",
			"1http://a.invalid", "", "http://a.invalid/\n"},
	}
	referenceFormat = format{
		draw: func(r *rand.Rand) string {
			return pick(r, []string{"a/b/%d", "/a?b=%d", "#%d", "https://example.invalid/%d", "//example.invalid/%d"}, r.IntN(1000))
		},
		hostile: []string{"", "..", "../../../../proc/version", "//127.0.0.1:1/", "file:///proc/version", "?", "#", "/%2e%2e/%2e%2e/proc/version", "javascript:1"},
		near:    []string{`a\b`, "http://[::1", "/%zz", "://a", "http://a b.invalid/", "http://a.invalid:port/"},
	}
	base64Format = format{
		draw:    func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString(drawBytes(r, r.IntN(24))) },
		hostile: []string{"", "AA==", "AAAA", "/+8=", base64.StdEncoding.EncodeToString([]byte("../../proc/version")), strings.Repeat("AAAA", 1000)},
		near:    []string{"A", "AA", "AA=", "AA===", "A===", "_-8=", "AA ==", "====", "Ä", "AAAA="},
		check: func(v any) error {
			if s, ok := v.(string); ok {
				_, err := base64.StdEncoding.DecodeString(s)
				return err
			}
			return nil
		},
	}
)

func pick(r *rand.Rand, layouts []string, n int) string {
	return fmt.Sprintf(layouts[r.IntN(len(layouts))], n)
}

func drawBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func drawDate(r *rand.Rand) string {
	year := 1990 + r.IntN(50)
	if r.IntN(8) == 0 {
		year = 1 + r.IntN(9998)
	}
	return fmt.Sprintf("%04d-%02d-%02d", year, 1+r.IntN(12), 1+r.IntN(28))
}

func drawTime(r *rand.Rand) string {
	s := fmt.Sprintf("%02d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(60))
	if r.IntN(4) == 0 {
		s += fmt.Sprintf(".%0*d", 1+r.IntN(6), r.IntN(10))
	}
	if r.IntN(4) == 0 {
		return s + fmt.Sprintf("%c%02d:%02d", "+-"[r.IntN(2)], r.IntN(15), 15*r.IntN(4))
	}
	return s + "Z"
}

func checkIDNEmail(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || strings.ContainsFunc(s[:at], unicode.IsSpace) {
		return errors.New("no local part before an @")
	}
	return checkIDNHostname(s[at+1:])
}

func checkIDNHostname(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if n := utf8.RuneCountInString(label); n < 1 || n > 63 {
			return fmt.Errorf("a label of %d characters", n)
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("a label begins or ends with a hyphen")
		}
		for _, c := range label {
			if c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) {
				return fmt.Errorf("the character %q in a label", c)
			}
		}
	}
	return nil
}

func checkInteger(v any, bits uint) error {
	text, ok := v.(json.Number)
	if !ok {
		return nil
	}
	n, ok := parseNumber(text.String())
	if !ok || !n.IsInt() {
		return errors.New("not an integer")
	}
	whole := n.Num()
	if whole.Sign() < 0 {
		whole.Not(whole)
	}
	if whole.BitLen() >= int(bits) {
		return fmt.Errorf("out of the range of int%d", bits)
	}
	return nil
}
