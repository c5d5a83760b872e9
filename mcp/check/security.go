package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Disguises are ways to write where the canary file is, and its directory. Steps up beyond the root of the file system lead to it, so that
// sixteen of them in front of an absolute path are a relative one from anywhere.
var Disguises = slices.Concat(
	[]string{script.CanaryPath, script.CanaryRelative, script.CanaryURI},
	climbing("../", "..\\", "....//", "..%2f", "%2e%2e/", "%2e%2e%2f", "%252e%252e%252f", "..%c0%af", "..;/", "\uff0e\uff0e/", ".\x00./"),
	whole("..%2f", "%2f"), whole("%2e%2e%2F", "%2F"), whole("..%252f", "%252f"),
	[]string{
		"./" + script.CanaryRelative, "a/../" + script.CanaryRelative, "/./" + script.CanaryPath, "//" + script.CanaryPath, script.CanaryPath + "/.", script.CanaryPath + "\x00.txt",
		script.CanaryPath + "%00", "/proc/self/root" + script.CanaryPath, "/proc/self/cwd/" + script.CanaryRelative, "file://localhost" + script.CanaryPath,
		"file:" + script.CanaryPath, "file:///proc/self/root" + script.CanaryPath, "FILE://" + script.CanaryPath, " " + script.CanaryPath, script.CanaryPath + " ",
		"~/../../../../../.." + script.CanaryPath, script.CanaryDir, strings.Repeat("../", 16) + script.CanaryDir, "file://" + script.CanaryDir,
		`<!DOCTYPE t [<!ENTITY c SYSTEM "` + script.CanaryURI + `">]><t>&c;</t>`, // for what reads XML
	},
	demanded(".md", ".json", ".yaml", ".csv", ".log", ".html", ".png", ".pdf"),
)

// boundaries lead out of an allowed directory where paths are compared by their beginnings, or links are not followed before.
var boundaries = []string{script.CanarySibling, script.CanarySibRel, "file://" + script.CanarySibling, "./" + script.CanarySibRel, "a/../" + script.CanarySibRel, script.CanaryLink, "file://" + script.CanaryLink,
	script.CanaryBeside, "file://" + script.CanaryBeside}

// above are two ways to name an allowed directory, and some to name the one above it. They are sent by themselves, so that the name of what
// lies beside the directory is not among what the server was sent.
var above = []string{".", script.CanaryRoot, "..", script.CanaryRoot + "/..", "../", "file://" + script.CanaryRoot + "/..", "a/../.."}

// demanded are paths for servers that ask for an extension before they read.
func demanded(extensions ...string) (paths []string) {
	for _, e := range extensions {
		paths = append(paths, script.CanaryRelative+e)
	}
	return paths
}

func climbing(ups ...string) (paths []string) {
	for _, up := range ups {
		paths = append(paths, strings.Repeat(up, 16)+strings.TrimPrefix(script.CanaryPath, "/"))
	}
	return paths
}

// whole writes every slash of the path in the same way: a variable of a URI template mostly must not have one.
func whole(up, slash string) []string {
	path := strings.ReplaceAll(script.CanaryPath, "/", slash)
	return []string{path, strings.Repeat(up, 16) + strings.TrimPrefix(path, slash)}
}

// eachText passes on every place in a request that takes free text: arguments of tools and prompts, variables of URI
// templates.
func eachText(b *session.Catalog, visit func(name string, line func(text string) []byte)) {
	for _, t := range b.Tools {
		t.EachText(t.Name, t.Full, visit)
	}
	for i := range b.Session.Templates {
		template := b.Session.Templates[i].URI
		for _, v := range session.TemplateVariables(template) {
			visit(template+" "+v, func(text string) []byte {
				return jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", session.ExpandTemplate(template, func(name string) string {
					if name == v {
						return text
					}
					return b.LikelyOr(name, "1")
				})))
			})
		}
	}
	for i := range b.Session.Prompts {
		p := &b.Session.Prompts[i]
		for _, a := range p.Arguments[:min(session.MaxProbed, len(p.Arguments))] {
			visit(p.Name+" "+a.Name, func(text string) []byte {
				return PromptLine(p, func(name string) string {
					if name == a.Name {
						return text
					}
					return b.Likely(name)
				})
			})
		}
	}
}

// TextPlace is a place in a request that takes free text, with what makes the request of a text.
type TextPlace struct {
	name string
	line func(text string) []byte
}

// MaxAttacked is in how many places the texts of security checks are tried before a campaign. Where there are more, some are
// drawn, and the others have their turn when checks are generated later.
const MaxAttacked = 2048

// SomeTexts returns at most n of the places that take free text, every time others.
func SomeTexts(b *session.Catalog, r *teasel.Rand, n int) (places []TextPlace) {
	eachText(b, func(name string, line func(string) []byte) { places = append(places, TextPlace{name, line}) })
	if len(places) > n {
		r.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
		places = places[:n]
	}
	return places
}

// EachPlace visits places one after the other.
func EachPlace(places []TextPlace, visit func(name string, line func(text string) []byte)) {
	for _, p := range places {
		visit(p.name, p.line)
	}
}

// PromptLine gets a prompt with all of its arguments.
func PromptLine(p *session.Prompt, value func(argument string) string) []byte {
	arguments := mutate.NewObject()
	for _, a := range p.Arguments {
		arguments.Set(a.Name, mutate.NewString(value(a.Name)))
	}
	return jsonrpc.RequestLine("prompts/get", mutate.NewObject(jsonrpc.Member("name", mutate.NewString(p.Name)), jsonrpc.Member("arguments", arguments)))
}

// Trying returns a visitor of places that tries texts there.
func Trying(check string, texts []string, emit Emitter) func(name string, line func(string) []byte) {
	return func(name string, line func(string) []byte) {
		var steps []script.Step
		for _, text := range texts {
			steps = append(steps, script.Send(line(text)))
		}
		Chunks(steps, chunk, func(part int, steps []script.Step) {
			emit(name+" "+strconv.Itoa(part), script.NewShared(check, steps...))
		})
	}
}

func checkTraversalModes(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	b.EachMode(Trying(Traversal, Disguises, emit))
}

func checkInjectionModes(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	b.EachMode(Trying(Injection, slices.Concat(Injections, b.FormatTexts), emit))
}

func checkTraversal(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	places := SomeTexts(b, r, MaxAttacked)
	EachPlace(places, Trying(Traversal, Disguises, emit))
	EachPlace(places, Trying(Traversal, boundaries, func(name string, in script.Script) { emit(name+" boundary", in) }))
	for _, t := range b.Tools[:min(len(b.Tools), MaxAttacked)] {
		t.EachText(t.Name, t.Full, Trying(Traversal, above, func(name string, in script.Script) { emit(name+" above", in) }))
	}
	if !b.Session.Has("resources") {
		return
	}
	var steps []script.Step
	for _, path := range slices.Concat(Disguises, boundaries) {
		steps = append(steps, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", path))))
	}
	for _, base := range ResourceBases(b.Session) {
		for _, path := range Disguises {
			steps = append(steps, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", base+strings.TrimPrefix(path, "/")))))
		}
	}
	Chunks(steps, chunk, func(part int, steps []script.Step) {
		emit("resources/read "+strconv.Itoa(part), script.NewShared(Traversal, steps...))
	})
}

// ResourceBases are the URIs of the resources up to their last slash, at most six of them.
func ResourceBases(s *session.Session) (bases []string) {
	for _, list := range [][]session.Resource{s.Resources, s.Templates} {
		for i := range list {
			uri := list[i].URI
			cut := strings.LastIndexByte(uri, '/') + 1
			if brace := strings.IndexByte(uri, '{'); brace >= 0 && brace < cut {
				cut = strings.LastIndexByte(uri[:brace], '/') + 1
			}
			if base := uri[:cut]; base != "" && !slices.Contains(bases, base) && len(bases) < 6 {
				bases = append(bases, base)
			}
		}
	}
	return bases
}

// Injections give [InjectionMarker] where they are evaluated: by a shell, a template engine, a database, an eval. They
// do nothing else.
var Injections = func() (all []string) {
	const product = InjectionA + "*" + InjectionB
	const echo = "echo tzl$((" + product + "))lzt"
	for _, around := range []string{
		"$(#)", "`#`", ";#", ";#;", "|#", "||#", "&#", "&&#", "\n#\n", "a;#", "a|#", "a'; # #'", "a\"; # #\"", "a'$(#)'", "a\"$(#)\"",
		"';#;'", "\";#;\"", ")#", "a$(#)", "-e;#", "${IFS};#",
	} {
		all = append(all, strings.Replace(around, "#", echo, 1))
	}
	for _, around := range [][2]string{
		{"{{", "}}"}, {"${", "}"}, {"#{", "}"}, {"<%= ", " %>"}, {"*{", "}"}, {"@(", ")"}, {"{{=", "}}"}, {"[[", "]]"}, {"[[${", "}]]"},
		{"${{", "}}"}, {"%{", "}"}, {"{", "}"}, {"$[", "]"}, {"~{", "}"}, {"$((", "))"},
	} {
		all = append(all, "tzl"+around[0]+product+around[1]+"lzt")
	}
	return append(all,
		"'tzl'+("+product+")+'lzt'", `"tzl"+(`+product+`)+"lzt"`, "`tzl${"+product+"}lzt`", `'+'tzl'+(`+product+`)+'lzt'+'`, `"+"tzl"+(`+product+`)+"lzt"+"`,
		"'tzl'+str("+product+")+'lzt'", `f"tzl{`+product+`}lzt"`, "'tzl'.("+product+").'lzt'",
		"teasel: !!python/object/apply:builtins.eval [\"'tzl'+str("+product+")+'lzt'\"]", // for what reads YAML
		"__import__('os').popen('"+echo+"').read()", "require('child_process').execSync('"+echo+"').toString()",
		"process.mainModule.require('child_process').execSync('"+echo+"').toString()", "a' || 'tzl' || ("+product+") || 'lzt' || '",
		"a' UNION SELECT 'tzl' || ("+product+") || 'lzt' --", "a\" UNION SELECT 'tzl' || ("+product+") || 'lzt' --", "0 UNION SELECT 'tzl' || ("+product+") || 'lzt'",
		"a') UNION SELECT 'tzl' || ("+product+") || 'lzt' --", "CONCAT('tzl',"+product+",'lzt')", "a' AND extractvalue(1,concat('tzl',"+product+",'lzt')) AND 'a'='a",
	)
}()

// Pollutions are texts that reach the prototype of all objects where JSON of a caller's is merged into something. They are
// no check: a server that has fallen for one shows that by what it does next.
var Pollutions = []string{
	`{"__proto__":{"teasel":"polluted"}}`, `{"constructor":{"prototype":{"teasel":"polluted"}}}`,
	`{"__proto__":{"toString":"polluted","length":-1,"then":"polluted"}}`,
}

func checkInjection(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	EachPlace(SomeTexts(b, r, MaxAttacked), Trying(Injection, slices.Concat(Injections, b.FormatTexts), emit))
}

// The texts for quotes are fewer than a chunk: all of one place are in one script.
func checkQuotes(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	EachPlace(SomeTexts(b, r, MaxAttacked), Trying(Quotes, QuoteTexts(), emit))
}

func checkQuotesModes(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	b.EachMode(Trying(Quotes, QuoteTexts(), emit))
}
