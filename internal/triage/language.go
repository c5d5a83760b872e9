package triage

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Language is the programming language of a program, as far as its crash text shows it. "" is unknown.
type Language string

// The languages.
const (
	C          Language = "C" // or C++
	DotNet     Language = ".NET"
	Go         Language = "Go"
	Java       Language = "Java" // or another language of its virtual machine
	JavaScript Language = "JavaScript"
	PHP        Language = "PHP"
	Python     Language = "Python"
	Ruby       Language = "Ruby"
	Rust       Language = "Rust"
)

// owner says who wrote the code of a frame. The higher it is, the more likely it is that the frame has the mistake.
type owner uint8

const (
	ofLanguage  owner = iota // the language's library, or unknown
	ofFramework              // a library that most servers use
	ofPackage                // another installed package, which may be the program itself
	ofProgram
)

// frameworks are packages that run the code of programs, or that read their input for them. A frame in them says little of where the
// mistake is.
var (
	pythonFrameworks = [...]string{"mcp", "fastmcp", "anyio", "trio", "sniffio", "pydantic", "pydantic_core", "starlette", "uvicorn", "httpx", "httpcore",
		"click", "typer", "exceptiongroup", "fastapi", "aiohttp", "tornado", "jsonschema"}
	nodeFrameworks = [...]string{"@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "@modelcontextprotocol/core", "fastmcp", "zod", "ajv", "express", "hono",
		"@hono/node-server", "fastify", "koa", "router", "raw-body", "body-parser", "tsx", "ts-node", "zod-to-json-schema"}
	javaLibraries  = [...]string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "groovy.", "clojure."}
	javaFrameworks = [...]string{"io.modelcontextprotocol.", "com.fasterxml.jackson.", "reactor.", "org.springframework.", "io.netty.", "io.ktor.", "io.quarkus.",
		"org.apache.tomcat.", "org.apache.catalina.", "org.eclipse.jetty."}
	dotnetLibraries  = [...]string{"System.", "Microsoft.", "Interop."}
	dotnetFrameworks = [...]string{"ModelContextProtocol.", "Newtonsoft."}
	goFrameworks     = [...]string{"github.com/modelcontextprotocol/go-sdk/", "github.com/mark3labs/mcp-go/", "github.com/metoro-io/mcp-golang", "golang.org/x/"}
	rustFrameworks   = [...]string{"rmcp-", "tokio-", "serde_json-", "serde-", "serde_core-", "futures-util-", "futures-core-", "futures-executor-", "hyper-", "axum-", "tower-", "tracing-"}
)

// rustPackage is the directory in which cargo keeps the source of a package.
var rustPackage = regexp.MustCompile(`/\.cargo/(?:registry/src/[^/]+|git/checkouts)/([^/]+)/`)

// owner returns who wrote the function. The language is used where the file does not show it.
func (f Frame) owner(l Language) owner {
	file := strings.ReplaceAll(f.File, `\`, "/")
	switch path.Ext(file) {
	case ".py":
		return ownerOfPython(file)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return ownerOfNode(file)
	case ".java", ".kt", ".scala", ".groovy", ".clj":
		return ownerByName(f.Function, javaLibraries[:], javaFrameworks[:])
	case ".go":
		switch {
		case inGoLibrary(f.Function):
			return ofLanguage
		case hasPrefix(f.Function, goFrameworks[:]):
			return ofFramework
		case strings.Contains(file, "/pkg/mod/"):
			return ofPackage
		}
		return ofProgram
	case ".rs":
		switch m := rustPackage.FindStringSubmatch(file); {
		case f.InLibrary():
			return ofLanguage
		case m != nil && hasPrefix(m[1], rustFrameworks[:]):
			return ofFramework
		case m != nil:
			return ofPackage
		}
		return ofProgram
	case ".rb":
		switch {
		case strings.Contains(file, "/gems/"):
			return ofPackage
		case strings.Contains(file, "/lib/ruby/"):
			return ofLanguage
		}
		return ofProgram
	case ".php":
		if strings.Contains(file, "/vendor/") {
			return ofPackage
		}
		return ofProgram
	}
	switch {
	case strings.HasPrefix(file, "node:"), strings.HasPrefix(file, "<"), file == "native", strings.HasPrefix(file, "internal/"), f.InLibrary():
		return ofLanguage
	case l == DotNet:
		return ownerByName(f.Function, dotnetLibraries[:], dotnetFrameworks[:])
	case l == Java:
		return ownerByName(f.Function, javaLibraries[:], javaFrameworks[:])
	case l == JavaScript:
		return ownerOfNode(file)
	case l == Python:
		return ownerOfPython(file)
	}
	return ofProgram
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func ownerByName(name string, libraries, frameworks []string) owner {
	switch {
	case hasPrefix(name, libraries):
		return ofLanguage
	case hasPrefix(name, frameworks):
		return ofFramework
	}
	return ofProgram
}

func ownerOfPython(file string) owner {
	_, name, installed := strings.Cut(file, "-packages/")
	name, _, _ = strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(file, "<"), strings.Contains(file, "/lib/python") && !installed:
		return ofLanguage
	case installed && slices.Contains(pythonFrameworks[:], strings.TrimSuffix(name, ".py")), strings.Contains(file, "/bin/"): // the script that pip makes
		return ofFramework
	case installed:
		return ofPackage
	}
	return ofProgram
}

// ownerOfNode goes by the innermost directory node_modules: a package may have its own beside the program's.
func ownerOfNode(file string) owner {
	const modules = "/node_modules/"
	if strings.HasPrefix(file, "node:") {
		return ofLanguage
	}
	i := strings.LastIndex(file, modules)
	if i < 0 {
		return ofProgram
	}
	parts := strings.SplitN(file[i+len(modules):], "/", 3)
	name := parts[0]
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	if slices.Contains(nodeFrameworks[:], name) {
		return ofFramework
	}
	return ofPackage
}

// Frame returns the frame that is to blame, with its line: a function may fail in several ways. It returns "" if there is none.
func (c *Crash) Frame() string {
	if frame := c.Blame(); frame != nil {
		return frame.Short()
	}
	return ""
}

// Blame returns the frame that most likely has the mistake: the innermost one of the program itself; without one, that of an installed
// package, then that of a framework. It returns nil if all frames are of the language's library. It points into c.
func (c *Crash) Blame() (f *Frame) {
	if c.Fault == Recursion { // which of the functions is the innermost one is random
		if cycle := c.Stack.cycle(); len(cycle) > 0 {
			if i := slices.IndexFunc(c.Stack, func(f Frame) bool { return f.Function == cycle[0] }); c.Stack[i].owner(c.Language) > ofLanguage {
				return &c.Stack[i]
			}
		}
	}
	most := ofLanguage
	for i := range c.Stack {
		if o := c.Stack[i].owner(c.Language); o > most {
			f, most = &c.Stack[i], o
		}
	}
	return f
}

// Short returns function, name of the file without its directory, and position: a text that is the same on every machine.
func (f Frame) Short() string {
	place := f.File
	if i := strings.LastIndexAny(place, `/\`); i >= 0 {
		place = place[i+1:]
	}
	if f.Line > 0 && place != "" {
		place += ":" + f.position()
	}
	return strings.TrimSpace(f.Function + " " + place)
}
