package check

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// allowedIDs are texts of ids that a request may have. No two have the same value.
var allowedIDs = []string{
	`-7000000001`, `7000000001`, `2147483648`, `4294967296`, `9007199254740991`, `9007199254740993`, `-9007199254740993`,
	`9223372036854775807`, `70000000020`, `""`, `"a"`, `"0"`, `"7000000001"`, `"007"`, `"1e5"`, `"null"`, `"true"`,
	`" "`, `" a "`, `"A"`, `"ü💥"`, `"\u0061\u0062"`, `"\u0000"`, `"a\\b\"c\/d"`, `"\u2028"`, `"__proto__"`, `"constructor"`,
	`"{}"`, `"[object Object]"`, `"9007199254740993"`, `"1.0"`, `"-0"`,
}

func checkIDs(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	probe := func(name string, line []byte) {
		var steps []script.Step
		for _, id := range allowedIDs {
			steps = append(steps, script.SendText(withID(line, id)))
		}
		steps = append(steps,
			script.SendText(withID(line, `7000000003.0`)), script.SendText(withID(line, `7e9`)), script.SendText(withID(line, `-0`)),
			script.SendText(withID(line, `"`+strings.Repeat("id", 2000)+`"`)))
		Chunks(steps, chunk, func(part int, steps []script.Step) {
			emit(name+" "+strconv.Itoa(part), script.NewShared(IDs, steps...))
		})
	}
	probe("ping", []byte(session.PingLine))
	EachList(b, func(method string) { probe(method, jsonrpc.RequestLine(method, nil)) })
	for _, t := range b.Tools {
		if !t.Slow {
			probe("tools/call "+t.Name, t.Call())
			break
		}
	}
	probe("unknown method", jsonrpc.RequestLine(Controls[0], nil))
}

// withID writes the text of an id in the place of the fresh one.
func withID(line []byte, id string) string { return strings.Replace(string(line), `"@id"`, id, 1) }

// Variants are spellings of a key that lax decoders take for it. An escaped spelling of the same characters is not one:
// that is the key.
func Variants(key string) []string {
	folded := strings.NewReplacer("s", "\u017f", "k", "\u212a").Replace(key)
	v := []string{
		strings.ToUpper(key[:1]) + key[1:], strings.ToUpper(key), key[:1] + strings.ToUpper(key[1:2]) + key[2:], key + " ", " " + key,
		key + "\x00", "\x00" + key, key + "\x00a", "\ufeff" + key, key + "\u200b", wide(key), "_" + key, key + "[]", "$." + key,
	}
	if folded != key {
		v = append(v, folded)
	}
	return v
}

// wide returns the full-width forms of ASCII letters, which normalise to those.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r + 0xfee0
		}
		return r
	}, s)
}

func checkVariantKey(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	probe := func(name, key string, twice bool, line func(variant string) []byte) {
		against(VariantKey, name, Variants(key), twice, line, emit)
	}
	beside := func(line []byte, value string) func(string) []byte {
		return func(key string) []byte { return withMember(line, key, value) }
	}
	ping := []byte(session.PingLine)
	probe("method beside method", "method", false, beside(ping, `"tools/list"`))
	probe("id beside id", "id", false, beside(ping, `"teasel"`))
	probe("jsonrpc beside jsonrpc", "jsonrpc", false, beside(ping, `"1.0"`))
	probe("method instead of method", "method", false, func(key string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":"@id",` + Quote(key) + `:"ping"}`)
	})
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		other := `{"name":` + Quote(Controls[0]) + `,"arguments":{}}`
		probe("params beside params, "+t.Name, "params", !t.Reads, beside(t.Call(), other))
		inside := func(key, value string) []byte {
			params := mutate.NewObject(jsonrpc.Member("name", mutate.NewString(t.Name)), jsonrpc.Member("arguments", t.Plain.Clone()),
				jsonrpc.Member(key, mutate.NewRaw(value)))
			return jsonrpc.RequestLine("tools/call", params)
		}
		probe("name beside name, "+t.Name, "name", !t.Reads, func(key string) []byte { return inside(key, Quote(Controls[0])) })
		probe("arguments beside arguments, "+t.Name, "arguments", !t.Reads, func(key string) []byte { return inside(key, `[]`) })
		break
	}
	variantArguments(b, probe)
}

// variantArguments gives each tool a second argument, of another value, whose name is nearly that of the first string.
func variantArguments(b *session.Catalog, probe func(name, key string, twice bool, line func(string) []byte)) {
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		for i, m := range t.Full.Members {
			if m.Value.Kind != mutate.String || len(m.Name) < 2 {
				continue
			}
			probe("argument "+strconv.Itoa(i)+" of "+t.Name, m.Name, !t.Reads, func(key string) []byte {
				arguments := t.Full.Clone()
				arguments.Members = append(arguments.Members, jsonrpc.Member(key, mutate.NewString("teasel variant")))
				return t.CallWith(arguments)
			})
			break
		}
	}
}

// withMember puts a member at the end of an object's text.
func withMember(line []byte, key, value string) []byte {
	b := append(make([]byte, 0, len(line)+len(key)+len(value)+8), line[:len(line)-1]...)
	b = append(b, ',')
	b = append(b, Quote(key)...)
	b = append(b, ':')
	b = append(b, value...)
	return append(b, '}')
}

// Quote returns text as a JSON string.
func Quote(s string) string { return mutate.NewString(s).String() }

func checkDuplicateKey(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	steps := []script.Step{
		script.SendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","method":"tools/list"}`),
		script.SendText(`{"jsonrpc":"2.0","id":"@id","method":"tools/list","method":"ping"}`),
		script.SendText(`{"jsonrpc":"2.0","id":"@id","id":"teasel","method":"ping"}`),
		script.SendText(`{"jsonrpc":"2.0","id":"teasel","method":"ping","id":"@id"}`),
		script.SendText(`{"jsonrpc":"1.0","id":"@id","method":"ping","jsonrpc":"2.0"}`),
		script.SendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{},"params":{"a":1}}`),
	}
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		arguments, name := t.Plain.String(), Quote(t.Name)
		head := `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{`
		steps = append(steps,
			script.SendText(head+`"name":`+name+`,"name":`+Quote(Controls[0])+`,"arguments":`+arguments+`}}`),
			script.SendText(head+`"name":`+Quote(Controls[0])+`,"name":`+name+`,"arguments":`+arguments+`}}`),
			script.SendText(head+`"name":`+name+`,"arguments":`+arguments+`,"arguments":{}}}`),
			script.SendText(head+`"name":`+name+`,"arguments":{},"arguments":`+arguments+`}}`))
		if len(t.Full.Members) > 0 {
			doubled := t.Full.Clone()
			doubled.Members = append(doubled.Members, jsonrpc.Member(doubled.Members[0].Name, mutate.NewInt(0)))
			steps = append(steps, script.Send(t.CallWith(doubled)))
		}
	}
	Chunks(steps, chunk, func(part int, steps []script.Step) {
		emit(strconv.Itoa(part), script.NewShared(DuplicateKey, steps...))
	})
}
