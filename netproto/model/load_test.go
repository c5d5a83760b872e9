package model

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"nothing", ``, "m.yaml: the file is empty"},
		{"no YAML", "a: [", "m.yaml:1:1: it is not valid YAML"},
		{"no version", "messages: {}\n", "m.yaml:1:1: the file does not say that it is a model"},
		{"a newer version", "teasel-model: 9\n", "m.yaml:1:15: teasel-model: version 9"},
		{"an unknown key", "teasel-model: 1\nmesages: {}\n", `m.yaml:2:1: unknown key "mesages"`},
		{"an unknown key of a field", field(`{id: a, type: u1, siez: 3}`), `m.yaml:5:27: messages.m.0: unknown key "siez"`},
		{"a key twice", "teasel-model: 1\ndoc: a\ndoc: b\n", `m.yaml:3:1: the key "doc" stands here twice`},
		{"an unknown type", field(`{id: a, type: u9}`), `m.yaml:5:23: messages.m.a: there is no type "u9"`},
		{"no end", field(`{id: a, type: str}`), "m.yaml:5:9: messages.m.a: nothing says where the field ends"},
		{"two fields of one id", field(`{id: a, type: u1}`, `{id: a, type: u1}`), "m.yaml:6:14: messages.m.a: the type has two fields of this id"},
		{"a stream from another port", "teasel-model: 1\nconnection: {transport: tcp, follow: true}\n", "m.yaml:2:38: connection.follow: only a server of datagrams answers from another port"},
		{"a later field", field(`{id: a, size: b}`, `{id: b, type: u1}`), "m.yaml:5:9: m.a: size uses b, but no field before it has that name"},
		{"a length that cannot be inverted", field(`{id: a, type: u1}`, `{id: b, type: u1}`, `{id: c, size: a * b}`),
			"m.yaml:7:9: m.c: the size a * b cannot be inverted"},
		{"a length derived from itself", field(`{id: a, type: u1, derive: {length: a}}`), "m.yaml:5:9: m.a: a cycle: the field is derived from itself"},
		{"two derived fields of each other", field(`{id: a, type: u1, derive: {copy: b}}`, `{id: b, type: u1, derive: {copy: a}}`), "m.a: a cycle: it is derived from b, and b from it"},
		{"a type in itself", "teasel-model: 1\ntypes:\n  t:\n    seq:\n      - {id: t, type: t}\nmessages:\n  m: {type: t}\n", "m.yaml:5:9: t.t: the type contains itself without an end"},
		{"an ambiguous switch", "teasel-model: 1\ntypes:\n  t: {seq: []}\nmessages:\n  m:\n    seq:\n      - {id: a, type: u1}\n" +
			"      - {id: b, size-eos: true, type: {switch-on: a, cases: {1: t, 0x1: t}}}\n", "m.yaml:8:68: messages.m.b.type: the switch is ambiguous: 1 and 0x1 are the same value"},
		{"bits that fill no byte", field(`{id: a, type: b3}`, `{id: b, type: u1}`), "m.yaml:6:9: m.b: 3 bits before it do not fill whole bytes"},
		{"framing of no kind", field(`{id: a, type: u1}`) + "framing: {}\n", "m.yaml:6:10: framing: nothing says where a response ends"},
		{"an empty delimiter", field(`{id: a, type: u1}`) + "framing: {delimiter: \"\"}\n", "framing.delimiter: the delimiter is empty"},
		{"a length before the response", field(`{id: a, type: u1}`) + "framing: {length: {at: -4, type: u2}}\n", "m.yaml:6:24: framing.length.at: the length begins at a byte from 0"},
		{"a length of bytes", field(`{id: a, type: u1, derive: {length: {hex: "00 11"}}}`), "messages.m.a.derive.length: only a checksum takes {hex: DIGITS}"},
		{"a copy of nothing", field(`{id: a, type: u1, derive: {copy: []}}`), "messages.m.a.derive.copy: it names no field"},
		{"a copy of no field", field(`{id: a, type: u1, derive: {copy: _after}}`), "messages.m.a.derive.copy: _after is no field"},
		{"a copy of the message", field(`{id: a, size-eos: true, derive: {copy: _root}}`), "messages.m.a.derive.copy: a cycle: the field cannot hold a copy"},
		{"three fields of each other", field(`{id: a, type: u1, derive: {copy: b}}`, `{id: b, type: u1, derive: {copy: c}}`, `{id: c, type: u1, derive: {copy: a}}`), "m.a: a cycle: it is derived from b"},
		{"an instance of itself", "teasel-model: 1\nmessages:\n  m:\n    seq: [{id: x, type: u1}, {id: y, type: u1, if: a == 1}]\n    instances: {a: {value: _root.a}}\nseeds: {s: [{hex: \"0000\"}]}\n",
			"expression a == 1: its instances use one another"},
		{"an alias in its anchor", "teasel-model: 1\ntypes: &t\n  x: {seq: [{id: y, type: u1}], types: *t}\nmessages:\n  m: {type: x}\n", "m.yaml:3:40: the alias *t stands within &t"},
		{"a merge with itself", "teasel-model: 1\nmeta: &m {<<: *m}\n", "the alias *m stands within &m"},
		{"too many items", field(`{id: a, size: 1, repeat: expr, repeat-expr: 3000000000}`) + "seeds: {s: [{message: m}]}\n", "the message has more than 65536 fields"},
		{"too many items without bytes", field(`{contents: x, eos-error: false, repeat: expr, repeat-expr: 3000000000}`) + "seeds: {s: [{hex: \"\"}]}\n", "an item without bytes would be repeated"},
		{"a size that overflows", field(`{id: a, type: u1}`, `{id: b, size: a * 65536 * 65536 * 65536 * 65536}`), "m.yaml:6:9: m.b: the size"},
		{"too many digits", field(`{id: a, type: dec, pad: 100000000000}`), "a pad is a number of digits from 0 to 255"},
		{"a case that is the message", "teasel-model: 1\ntypes:\n  t: {seq: []}\nmessages:\n  m:\n    seq:\n      - {id: a, type: u1}\n" +
			"      - {id: b, size-eos: true, type: {switch-on: a, cases: {_root: t}}}\nseeds: {s: [{hex: \"00\"}]}\nstates:\n  a: [{send: n}]\n", "there is no message \"n\""},
		{"more bits than there are", transform("not 65"), "not inverts 1 to 64 bits, here stands 65"},
		{"no bits", transform("not 0"), "not inverts 1 to 64 bits, here stands 0"},
		{"a shift by all bits", transform("shl 64"), "shl moves a number by 0 to 63 bits, here stands 64"},
		{"a negative shift", transform("shr -1"), "shr moves a number by 0 to 63 bits, here stands -1"},
		{"too many states", field(`{id: a, type: u1}`) + manyStates(256), "m.yaml:7:3: states: there are 256 states, a model has at most 255"},
		{"a clock without time", field(`{id: a, type: u4, derive: {counter: 1, clock: real}}`), "messages.m.a.derive: only now has a clock"},
		{"an unknown checksum", field(`{id: a, type: u4, derive: {checksum: crc-33, over: [_root]}}`), `there is no checksum "crc-33"`},
		{"a seed that is too short", seed(`{hex: "0003 61"}`), "m.yaml:9:13: seeds.s[0]: byte 2: the seed does not fit m, field text: the bytes end here"},
		{"a seed that is too long", seed(`{hex: "0001 6162"}`), "byte 3: the seed does not fit m: 1 bytes are left over"},
		{"a number that is too large", seed(`{message: m, fields: {length: 65536, text: a}}`), "65536 does not fit into the field, which takes 0 to 65535"},
		{"a number that is too small", seed(`{message: m, fields: {length: -1, text: a}}`), "-1 does not fit into the field, which takes 0 to 65535"},
		{"a value that is too large", field(`{id: a, type: s1, value: 128}`), "128 does not fit into the field, which takes -128 to 127"},
		{"a seed with an unknown field", seed(`{message: m, fields: {txt: a}}`), "m.yaml:9:29: seeds.s[0]: txt: m has no such field"},
		{"an unknown message", seed(`{message: n, fields: {}}`), `m.yaml:9:17: seeds.s[0]: there is no message "n"`},
		{"an unknown state", seed(`{hex: "0000"}`) + "states:\n  a: [{send: m, to: b}]\n", "the transition of m leads to b, but there is no such state"},
		{"an unreachable state", seed(`{hex: "0000"}`) + "states:\n  a: [{send: m}]\n  b: []\n", "states.b: no transition leads from a to this state"},
		{"an unknown response", seed(`{hex: "0000"}`) + "states:\n  a: [{send: m, expect: r}]\n", `there is no response "r"`},
	} {
		_, err := Parse([]byte(test.src), "m.yaml")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error\n%v\nexpected is\n%s", test.name, err, test.want)
		}
	}
}

// field is a model with these fields.
func field(fields ...string) string {
	src := "teasel-model: 1\nmessages:\n  m:\n    seq:\n"
	for _, f := range fields {
		src += "      - " + f + "\n"
	}
	return src
}

// transform is a model with one transform of a captured value.
func transform(text string) string {
	return field(`{id: a, type: u8, derive: {from: x, transform: [` + text + `]}}`)
}

// manyStates has so many states, each of which leads to the next one.
func manyStates(n int) string {
	src := "states:\n"
	for i := range n {
		src += fmt.Sprintf("  s%d: [{send: m, to: s%d}]\n", i, (i+1)%n)
	}
	return src
}

// seed is a model of a text with its length before it, with one seed.
func seed(message string) string {
	return field(`{id: length, type: u2}`, `{id: text, type: str, size: length}`) + "seeds:\n  s: \n    - " + message + "\n"
}

// built makes a model and its message m with default values.
func built(t *testing.T, src string) (*Model, *Tree) {
	t.Helper()
	m, err := Parse([]byte(src), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var tree Tree
	if err := m.Messages[0].Build(&tree); err != nil {
		t.Fatal(err)
	}
	return m, &tree
}

func TestDerive(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []string
		want   string // in hexadecimal digits
	}{
		{"a size", []string{`{id: n, type: u2}`, `{id: s, type: str, size: n, value: abc}`}, "0003616263"},
		{"a size with a factor", []string{`{id: n, type: u1}`, `{id: s, size: n * 2 + 2, value: abcdef}`}, "02616263646566"},
		{"a number of items", []string{`{id: n, type: u1, value: 2}`, `{id: s, type: u1, repeat: expr, repeat-expr: n}`}, "00"},
		{"a length with itself, in words", []string{`{id: n, type: u1, derive: {length: [_after], self: true, unit: 4}}`, `{id: s, size: 7}`}, "0200000000000000"},
		{"a length in bits", []string{`{id: n, type: u1, derive: {length: s, unit: bits}}`, `{id: s, size: 3}`}, "18000000"},
		{"an offset", []string{`{id: o, type: u1, derive: {offset: s}}`, `{id: x, size: 2}`, `{id: s, size: 1}`}, "03000000"},
		{"a checksum of the whole", []string{`{id: c, type: u1, derive: {checksum: sum-8, over: _root}, value: 9}`, `{id: s, size: 2, value: [1, 2]}`}, "030102"},
		{"an Internet checksum with a pseudo header", []string{`{id: c, type: u2, derive: {checksum: inet, over: [{hex: "00 11"}, s]}}`, `{id: s, size: 2, value: [1, 2]}`}, "feec0102"},
		{"a hash", []string{`{id: c, size: 4, derive: {checksum: md5, over: s}}`, `{id: s, size: 1, value: a}`}, "0cc175b961"},
		{"a CRC by its parameters", []string{`{id: c, type: u1, derive: {checksum: {width: 8, poly: 7}, over: s}}`, `{id: s, size: 9, value: "123456789"}`}, "f4313233343536373839"},
		{"an HMAC in text", []string{`{id: c, type: str, size-eos: true, derive: {checksum: hmac-md5, key: key, over: _root, self: skip}}`}, "36333533306132326536363532653465306264636339656635633965623334"},
		{"a copy", []string{`{id: a, type: u1, value: 5}`, `{id: b, type: u2le, derive: {copy: a, transform: [add 1, shl 4]}}`}, "056000"},
		{"a varint as a length", []string{`{id: n, type: mqttint}`, `{id: s, size: n, value: ab}`}, "026162"},
		{"a number in text", []string{`{id: n, type: dec, pad: 3}`, `{contents: ":"}`, `{id: s, size: n, value: ab}`}, "3030323a6162"},
	} {
		_, tree := built(t, field(test.fields...))
		if got := hexOf(tree.Data); test.name != "an HMAC in text" && got != test.want {
			t.Errorf("%s: %s, expected %s", test.name, got, test.want)
		} else if test.name == "an HMAC in text" && len(tree.Data) != 32 {
			t.Errorf("%s: %q, expected are 32 digits", test.name, tree.Data)
		}
		if tree.Derive(nil) {
			t.Errorf("%s: computed anew it changes once more", test.name)
		}
	}
}

func hexOf(b []byte) string {
	tr := Transform{Name: "hex"}
	return string(tr.apply(value{bytes: b, text: true}).bytes)
}

// A change of a field makes what follows from it right again, unless that is broken.
func TestDeriveAfterAChange(t *testing.T) {
	_, tree := built(t, field(`{id: all, type: u1, derive: {length: _after}}`, `{id: n, type: mqttint}`, `{id: s, type: str, size: n, value: ab}`))
	i := tree.Child(0, "s")
	tree.Replace(i, []byte(strings.Repeat("x", 200)))
	tree.Derive(nil)
	if got := hexOf(tree.Data[:4]); got != "cac80178" { // 202, 200 in two bytes, x
		t.Errorf("the message begins with %s", got)
	}
	tree.Nodes[tree.Child(0, "n")].Flags |= Broken
	tree.Replace(tree.Child(0, "s"), nil)
	tree.Derive(nil)
	if got := hexOf(tree.Data); got != "02c801" {
		t.Errorf("with a broken length: %s", got)
	}
}

func TestValuesOfTheDialogue(t *testing.T) {
	src := field(`{id: k, type: u1, derive: {counter: {start: 7, wrap: 9}}}`, `{id: s, type: str, size: 2, value: "--", derive: {from: id, transform: [slice 1 3]}}`) +
		"responses:\n  r: {seq: [{id: x, type: str, terminator: \"\\n\"}], capture: {id: x}}\n"
	m, tree := built(t, src)
	var late Late
	var sent, answer Tree
	send := func() string {
		sent.CopyFrom(tree)
		sent.Derive(&late)
		return string(sent.Data)
	}
	if got := send(); got != "\x07--" {
		t.Errorf("before a response: %q", got)
	}
	r, _, _ := m.Answer(&answer, []byte("abcd\n"), false)
	if r == nil {
		t.Fatal("the response does not fit")
	}
	late.Take(r, &answer)
	for _, want := range []string{"\x08bc", "\x07bc"} {
		if got := send(); got != want {
			t.Errorf("after the response: %q, expected %q", got, want)
		}
	}
	late.Forget()
	if got := send(); got != "\x07--" {
		t.Errorf("on a new connection: %q", got)
	}
}

// Whatever bytes come, parsing ends without a panic, and what it accepts consists of these bytes.
func FuzzParse(f *testing.F) {
	for _, m := range modelsOf(f) {
		for _, s := range m.Seeds {
			for _, msg := range s.Messages {
				f.Add(msg.Tree.Data)
			}
		}
	}
	all := modelsOf(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range all {
			for _, kind := range append(m.Messages, m.Responses...) {
				var tree Tree
				if err := kind.Parse(&tree, data); err != nil {
					if len(tree.Nodes) > 0 || string(tree.Data) != string(data) {
						t.Fatalf("%s.%s: after %v there are fields, or other bytes", m.ID, kind.Name, err)
					}
					continue
				}
				if string(tree.Data) != string(data) || int(tree.Nodes[0].End) != 8*len(data) {
					t.Fatalf("%s.%s: the message has other bytes", m.ID, kind.Name)
				}
				tree.Derive(nil)
				tree.Serialize(nil)
			}
		}
	})
}

// All bits of a number can be inverted.
func TestNotOfAllBits(t *testing.T) {
	for bits, want := range map[int64]int64{1: 4, 8: 250, 63: math.MaxInt64 - 5, 64: -6} {
		if got := (&Transform{Name: "not", Number: bits}).arithmetic(5); got != want {
			t.Errorf("not %d of 5 is %d, expected %d", bits, got, want)
		}
	}
}

// A field with the time keeps that of the seed, unless its clock is real or the caller says what time it is.
func TestTimeOfTheSeedAndOfSending(t *testing.T) {
	const src = `{id: seed, type: u4, value: 17, derive: {now: unix}}`
	_, tree := built(t, field(src, `{id: real, type: u4, value: 17, derive: {now: unix, clock: real}}`))
	before := time.Now().Unix()
	tree.Derive(&Late{})
	seed, _ := tree.Number(tree.Child(0, "seed"))
	sent, _ := tree.Number(tree.Child(0, "real"))
	if seed != 17 || sent < before || sent > time.Now().Unix() {
		t.Errorf("the seed's time is %d, that of sending %d", seed, sent)
	}
	tree.Derive(&Late{Now: time.Unix(99, 0)})
	seed, _ = tree.Number(tree.Child(0, "seed"))
	if sent, _ = tree.Number(tree.Child(0, "real")); seed != 99 || sent != 99 {
		t.Errorf("at 99 the times are %d and %d", seed, sent)
	}
}
