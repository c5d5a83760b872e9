package mcp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// controls are names that no server has.
var controls = [2]string{ControlName + "a1", ControlName + "b2"}

// inheritedNames are names that every object of JavaScript has.
var inheritedNames = []string{"__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"}

// ownedNames are names that runtimes give to everything, or that lookups trip over.
var ownedNames = slices.Concat(inheritedNames, []string{"prototype", "length", "__class__", "__init__", "__dict__", "null", "undefined", "0"})

// against emits scripts that hold each of the names against the controls, a few in each.
func against(label, name string, names []string, line func(name string) []byte, emit emitter) {
	var steps []Step
	for _, n := range names {
		steps = append(steps, send(line(n)))
	}
	chunks(steps, chunk-len(controls), func(part int, steps []Step) {
		steps = append([]Step{send(line(controls[0])), send(line(controls[1]))}, steps...)
		emit(name+" "+strconv.Itoa(part), shared(label, steps...))
	})
}

func checkUnknownName(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name string, empty bool, line func(unknown string) []byte) {
		names := ownedNames
		if empty {
			names = append([]string{""}, names...)
		}
		against(CheckUnknownName, name, names, line, emit)
	}
	probe("method", false, func(unknown string) []byte { return requestLine(unknown, nil) })
	if b.session.Has("tools") {
		probe("tool", true, func(unknown string) []byte { return callLine(unknown, mutate.NewObject()) })
	}
	if b.session.Has("prompts") {
		probe("prompt", true, func(unknown string) []byte { return requestLine("prompts/get", object("name", unknown)) })
	}
	if b.session.Has("resources") {
		probe("resource", false, func(unknown string) []byte { return requestLine("resources/read", object("uri", unknown)) })
	}
	if b.session.Has("completions") {
		probe("completion", false, func(unknown string) []byte { return completionLine(promptRef(unknown), "a", "") })
	}
	for _, t := range b.tools {
		if t.Slow {
			continue
		}
		declared := t.InputSchema.Get("properties")
		unknown := slices.DeleteFunc(slices.Clone(ownedNames), func(name string) bool { return declared.Get(name) != nil })
		against(CheckUnknownName, "argument of "+t.Name, unknown, func(name string) []byte {
			arguments := t.plain.Clone()
			arguments.Members = append(arguments.Members, member(name, mutate.NewString("a")))
			return t.callWith(arguments)
		}, emit)
		for _, pointer := range t.texts {
			if names := keysAt(t, pointer); len(names) > 0 { // no more than one script has room for
				names = append([]string{letterControl}, names...)
				against(CheckUnknownName, "key of "+t.Name+" "+pointer, names, func(key string) []byte { return t.callWith(t.with(pointer, key)) }, emit)
			}
		}
	}
}

// keysAt returns which inherited names may be tried for the key that an argument holds; none: it holds no key, or one that
// has to look otherwise.
func keysAt(c *callable, pointer string) (names []string) {
	path := strings.Split(pointer, "/")
	name := path[len(path)-1]
	if len(path) > 2 && strings.Trim(name, "0123456789") == "" {
		name = strings.TrimSuffix(path[len(path)-2], "s")
	}
	if !hasWord(name, handleWords) || c.schema == nil || c.schema.Validate(c.with(pointer, controls[0])) != nil ||
		c.schema.Validate(c.with(pointer, letterControl)) != nil {
		return nil
	}
	for _, name := range inheritedNames {
		if c.schema.Validate(c.with(pointer, name)) == nil {
			names = append(names, name)
		}
	}
	return names
}

// allowedIDs are texts of ids that a request may have. No two have the same value.
var allowedIDs = []string{
	`-7000000001`, `7000000001`, `2147483648`, `4294967296`, `9007199254740991`, `9007199254740993`, `-9007199254740993`,
	`9223372036854775807`, `70000000020`, `""`, `"a"`, `"0"`, `"7000000001"`, `"007"`, `"1e5"`, `"null"`, `"true"`,
	`" "`, `" a "`, `"A"`, `"ü💥"`, `"\u0061\u0062"`, `"\u0000"`, `"a\\b\"c\/d"`, `"\u2028"`, `"__proto__"`, `"constructor"`,
	`"{}"`, `"[object Object]"`, `"9007199254740993"`, `"1.0"`, `"-0"`,
}

func checkIDs(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name string, line []byte) {
		var steps []Step
		for _, id := range allowedIDs {
			steps = append(steps, sendText(withID(line, id)))
		}
		steps = append(steps,
			sendText(withID(line, `7000000003.0`)), sendText(withID(line, `7e9`)), sendText(withID(line, `-0`)),
			sendText(withID(line, `"`+strings.Repeat("id", 2000)+`"`)))
		chunks(steps, chunk, func(part int, steps []Step) { emit(name+" "+strconv.Itoa(part), shared(CheckIDs, steps...)) })
	}
	probe("ping", []byte(pingLine))
	eachList(b, func(method string) { probe(method, requestLine(method, nil)) })
	for _, t := range b.tools {
		if !t.Slow {
			probe("tools/call "+t.Name, t.call())
			break
		}
	}
	probe("unknown method", requestLine(controls[0], nil))
}

// withID writes the text of an id in the place of the fresh one.
func withID(line []byte, id string) string { return strings.Replace(string(line), `"@id"`, id, 1) }

// variants are spellings of a key that lax decoders take for it. An escaped spelling of the same characters is not one:
// that is the key.
func variants(key string) []string {
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

func checkVariantKey(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name, key string, line func(variant string) []byte) {
		against(CheckVariantKey, name, variants(key), line, emit)
	}
	beside := func(line []byte, value string) func(string) []byte {
		return func(key string) []byte { return withMember(line, key, value) }
	}
	ping := []byte(pingLine)
	probe("method beside method", "method", beside(ping, `"tools/list"`))
	probe("id beside id", "id", beside(ping, `"teasel"`))
	probe("jsonrpc beside jsonrpc", "jsonrpc", beside(ping, `"1.0"`))
	probe("method instead of method", "method", func(key string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":"@id",` + quote(key) + `:"ping"}`)
	})
	for _, t := range b.tools {
		if t.Slow {
			continue
		}
		other := `{"name":` + quote(controls[0]) + `,"arguments":{}}`
		probe("params beside params, "+t.Name, "params", beside(t.call(), other))
		inside := func(key, value string) []byte {
			params := mutate.NewObject(member("name", mutate.NewString(t.Name)), member("arguments", t.plain.Clone()),
				member(key, mutate.NewRaw(value)))
			return requestLine("tools/call", params)
		}
		probe("name beside name, "+t.Name, "name", func(key string) []byte { return inside(key, quote(controls[0])) })
		probe("arguments beside arguments, "+t.Name, "arguments", func(key string) []byte { return inside(key, `[]`) })
		break
	}
	variantArguments(b, probe)
}

// variantArguments gives each tool a second argument, of another value, whose name is nearly that of the first string.
func variantArguments(b *repertoire, probe func(name, key string, line func(string) []byte)) {
	for _, t := range b.tools {
		if t.Slow {
			continue
		}
		for i, m := range t.full.Members {
			if m.Value.Kind != mutate.String || len(m.Name) < 2 {
				continue
			}
			probe("argument "+strconv.Itoa(i)+" of "+t.Name, m.Name, func(key string) []byte {
				arguments := t.full.Clone()
				arguments.Members = append(arguments.Members, member(key, mutate.NewString("teasel variant")))
				return t.callWith(arguments)
			})
			break
		}
	}
}

// withMember puts a member at the end of an object's text.
func withMember(line []byte, key, value string) []byte {
	b := append(make([]byte, 0, len(line)+len(key)+len(value)+8), line[:len(line)-1]...)
	b = append(b, ',')
	b = append(b, quote(key)...)
	b = append(b, ':')
	b = append(b, value...)
	return append(b, '}')
}

func quote(s string) string { return mutate.NewString(s).String() }

func checkDuplicateKey(b *repertoire, _ *teasel.Rand, emit emitter) {
	steps := []Step{
		sendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","method":"tools/list"}`),
		sendText(`{"jsonrpc":"2.0","id":"@id","method":"tools/list","method":"ping"}`),
		sendText(`{"jsonrpc":"2.0","id":"@id","id":"teasel","method":"ping"}`),
		sendText(`{"jsonrpc":"2.0","id":"teasel","method":"ping","id":"@id"}`),
		sendText(`{"jsonrpc":"1.0","id":"@id","method":"ping","jsonrpc":"2.0"}`),
		sendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{},"params":{"a":1}}`),
	}
	for _, t := range b.tools {
		if t.Slow {
			continue
		}
		arguments, name := t.plain.String(), quote(t.Name)
		head := `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{`
		steps = append(steps,
			sendText(head+`"name":`+name+`,"name":`+quote(controls[0])+`,"arguments":`+arguments+`}}`),
			sendText(head+`"name":`+quote(controls[0])+`,"name":`+name+`,"arguments":`+arguments+`}}`),
			sendText(head+`"name":`+name+`,"arguments":`+arguments+`,"arguments":{}}}`),
			sendText(head+`"name":`+name+`,"arguments":{},"arguments":`+arguments+`}}`))
		if len(t.full.Members) > 0 {
			doubled := t.full.Clone()
			doubled.Members = append(doubled.Members, member(doubled.Members[0].Name, mutate.NewInt(0)))
			steps = append(steps, send(t.callWith(doubled)))
		}
	}
	chunks(steps, chunk, func(part int, steps []Step) { emit(strconv.Itoa(part), shared(CheckDuplicateKey, steps...)) })
}
