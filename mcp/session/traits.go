package session

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Traits say what a tool is for. They are decided once for each tool, and the selection of tools, the generator and the
// detectors all go by them: what a tool is for is never a finding. Annotations count first, with the defaults of the
// specification, then the input schema, the name and the description. The zero value is that of a tool of which nothing is
// known but that it reaches nothing outside of the server; [TraitsOf] is the only source of others.
type Traits struct {
	ReadOnly    bool // readOnlyHint is true
	Idempotent  bool // idempotentHint is true
	Harmless    bool // the annotations say that the tool destroys nothing: it is ReadOnly, or destructiveHint is false
	Annotated   bool // the tool has an object of annotations
	OpenWorld   bool // openWorldHint is not false, its default being true: a call may have to wait for somebody else
	SaysOpen    bool // openWorldHint is true
	Network     bool // its words say that it asks somebody over a network
	Reads       bool // the tool seems to change nothing: it is ReadOnly, or its name begins with a verb such as get
	Slow        bool // its name or one of its arguments says that it takes its time
	MakesSecret bool // its name says that it makes keys or tokens
	Environment bool // its description says that it shows environment variables
	ShowsText   bool // it shows what is written elsewhere, such as files, logs, pages and reports of errors

	// Changes says why the tool may change something that outlives the server; "": nothing suggests that it does.
	Changes string

	// Arguments are the purposes of those arguments that have one, by name.
	Arguments map[string]Purpose
	// Undeclared is the purpose of all arguments, where the input schema declares none.
	Undeclared Purpose
}

// Purpose is a set of things that a tool does with an argument because that is what the argument is for.
type Purpose uint8

// The purposes.
const (
	RunsProgram   Purpose = 1 << iota // it is a command or a program, which is run
	RunsQuery                         // it is a query, which a database runs
	Renders                           // it is a template, which is rendered
	ReadsAnywhere                     // it names a file or a resource that may lie anywhere
	TakesTime                         // it says how long the call is to take
)

// TraitsOf judges a tool by what its server says of it.
func TraitsOf(t *Tool) Traits {
	traits := Traits{
		ReadOnly: t.hint("readOnlyHint") == "true", Idempotent: t.hint("idempotentHint") == "true",
		Annotated: t.Annotations != nil && t.Annotations.Kind == mutate.Object && !t.Unmarked,
		OpenWorld: t.hint("openWorldHint") != "false", SaysOpen: t.hint("openWorldHint") == "true",
	}
	traits.Harmless = traits.ReadOnly || t.hint("destructiveHint") == "false"
	name, description := SplitWords(t.Name), strings.ToLower(t.Description)
	traits.Reads = traits.ReadOnly || isReading(name)
	traits.MakesSecret = containsAny(name, makingVerbs) && containsAny(name, secretNouns)
	traits.Environment = strings.Contains(description, "environment variable")
	traits.ShowsText = containsAny(name, shownWords) || containsAny(SplitWords(firstSentence(t.Description)), writtenWords)
	traits.Slow = containsAny(name, slowWords)
	traits.Network = containsAny(name, networkWords) || containsAny(SplitWords(t.Description), networkWords)
	for _, property := range t.Properties() {
		words := SplitWords(property.Name)
		traits.Slow = traits.Slow || containsAny(words, slowWords)
		traits.Network = traits.Network || containsAny(words, networkWords)
		traits.ShowsText = traits.ShowsText || containsAny(words, shownWords)
	}
	traits.Arguments, traits.Undeclared = purposesOf(t)
	traits.Changes = changes(t, &traits)
	return traits
}

// hint returns what the annotations say under a name: "true", "false", or "" for anything else.
func (t *Tool) hint(name string) string {
	if t.Unmarked {
		return ""
	}
	if v := t.Annotations.Get(name); v != nil && v.Kind == mutate.Bool {
		return v.Text
	}
	return ""
}

// Properties returns what the input schema declares at the top.
func (t *Tool) Properties() []mutate.Member {
	if properties := t.InputSchema.Get("properties"); properties != nil {
		return properties.Members
	}
	return nil
}

// Has reports whether an argument of a call has one of the purposes, and a text in it.
func (t *Traits) Has(purposes Purpose, arguments *mutate.JSON, text string) bool {
	if arguments == nil {
		return false
	}
	for i := range arguments.Members {
		m := &arguments.Members[i]
		if m.Value != nil && (t.Arguments[m.Name]|t.Undeclared)&purposes != 0 && strings.Contains(m.Value.String(), text) {
			return true
		}
	}
	return false
}

// Takes reports whether one of the tool's arguments has one of the purposes.
func (t *Traits) Takes(purposes Purpose) bool {
	if t.Undeclared&purposes != 0 {
		return true
	}
	for _, p := range t.Arguments {
		if p&purposes != 0 {
			return true
		}
	}
	return false
}

// Words that say what the answers of a tool are made of: what stands there was written elsewhere.
var (
	shownWords   = []string{"fetch", "file", "files", "log", "logs", "read", "search"}
	writtenWords = []string{"crash", "crashes", "error", "errors", "exception", "exceptions", "file", "files", "log", "logs", "stack", "stacktrace", "trace", "traces", "traceback"}
)

// What a tool does and what it makes, by its name, where the keys and tokens that it shows are new ones.
var (
	makingVerbs = []string{"create", "generate", "issue", "make", "mint", "new", "rotate"}
	secretNouns = []string{"credential", "credentials", "key", "keypair", "keypairs", "keys", "secret", "secrets", "token", "tokens"}
)

// slowWords say of a tool that it waits on purpose, and of an argument that it says how long; timeWords say the latter only.
var (
	slowWords = []string{"delay", "duration", "interval", "long", "pause", "poll", "seconds", "sleep", "slow", "timeout", "wait"}
	timeWords = []string{"ms", "milliseconds", "millis", "minutes", "secs", "sec", "hours", "time"}
)

// networkWords say that a tool asks another machine, or a program beside the server, which may keep it waiting.
var networkWords = []string{"api", "ask", "browser", "browse", "crawl", "database", "db", "dns", "docker", "domain", "download", "email", "fetch", "ftp", "git", "github", "host", "hostname",
	"http", "https", "internet", "kubernetes", "lookup", "mail", "network", "online", "ping", "postgres", "proxy", "publish", "query", "redis", "remote", "request", "scrape", "search", "send", "server",
	"service", "slack", "smtp", "sql", "ssh", "subprocess", "sync", "tcp", "upload", "upstream", "uri", "url", "urls", "web", "webhook", "website", "weather"}

// Words that name what an argument is, or what a tool does with it.
var (
	commandWords   = []string{"bash", "cmd", "command", "commands", "exec", "execute", "powershell", "sh", "shell", "terminal"}
	programWords   = []string{"code", "eval", "evaluate", "expression", "formula", "javascript", "js", "lambda", "program", "python", "ruby", "script", "snippet", "source"}
	programTools   = append([]string{"calc", "calculate", "compile", "interpret"}, programWords...)
	queryWords     = []string{"query", "statement"}
	queryLanguages = []string{"cypher", "sparql", "sql"}
	queryTools     = append([]string{"database", "db"}, queryLanguages...)
	templateWords  = []string{"template", "templates"}
	placeWords     = []string{"file", "filename", "location", "path", "uri", "url"}
)

// purposesOf returns the purposes of a tool's arguments, and that of all of them where the schema declares none.
func purposesOf(t *Tool) (purposes map[string]Purpose, undeclared Purpose) {
	purposes = make(map[string]Purpose)
	name := SplitWords(t.Name)
	runs := containsAny(name, programTools) || containsAny(name, commandWords) || saysThatItRuns(t.Description)
	for _, m := range t.Properties() {
		words := SplitWords(m.Name)
		described, _ := m.Value.Get("description").Str()
		var p Purpose
		if containsAny(words, commandWords) || runs && containsAny(words, programWords) {
			p |= RunsProgram
		}
		if containsAny(words, queryLanguages) || containsAny(words, queryWords) && (containsAny(name, queryTools) ||
			len(name) == 1 && name[0] == "query" || namesQueryLanguage(t.Description+" "+described)) {
			p |= RunsQuery
		}
		if containsAny(words, templateWords) && takesText(m.Value) && (containsAny(name, templateWords) || namesEngine(t.Description+" "+described)) {
			p |= Renders
		}
		if containsAny(words, placeWords) && readsAnywhere(t.Description+" "+described) {
			p |= ReadsAnywhere
		}
		if containsAny(words, slowWords) || containsAny(words, timeWords) {
			p |= TakesTime
		}
		if p != 0 {
			purposes[m.Name] = p
		}
	}
	if runs && len(t.Properties()) == 0 {
		undeclared = RunsProgram
	}
	if runs && !slices.ContainsFunc(t.Properties(), func(m mutate.Member) bool { return purposes[m.Name]&RunsProgram != 0 }) {
		// A tool that runs what it is given has an argument for that, whatever its name is.
		for _, m := range t.Properties() {
			if takesText(m.Value) {
				purposes[m.Name] |= RunsProgram
				break
			}
		}
	}
	return purposes, undeclared
}

// namesQueryLanguage reports whether a description names a language that databases take queries in.
func namesQueryLanguage(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(queryLanguages, func(language string) bool { return strings.Contains(text, language) }) || strings.Contains(text, "select query")
}

// engines are languages of templates that have expressions. A tool that only fills names into a text mentions none.
var engines = []string{"ejs", "expression", "freemarker", "handlebars", "jinja", "liquid", "mustache", "nunjucks", "template engine", "thymeleaf", "twig", "velocity"}

// namesEngine reports whether a description names a language of templates.
func namesEngine(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(engines, func(engine string) bool { return strings.Contains(text, engine) })
}

// saysThatItRuns reports whether a description's first sentence has a verb such as "runs", with a program behind it.
func saysThatItRuns(description string) bool {
	words := SplitWords(firstSentence(description))
	for i, w := range words {
		switch w {
		case "run", "runs", "execute", "executes", "evaluate", "evaluates", "interpret", "interprets", "eval", "evals":
			behind := words[i+1 : min(i+6, len(words))]
			if isVerbAt(words, i) && (containsAny(behind, programWords) || containsAny(behind, commandWords) || containsAny(behind, []string{"expressions", "programs", "scripts"})) {
				return true
			}
		}
	}
	return false
}

// takesText reports whether a schema may take a text, and any: it has no list of those there are.
func takesText(schema *mutate.JSON) bool {
	kind := schema.Get("type")
	if schema.Get("enum") != nil || schema.Get("const") != nil {
		return false
	}
	text, ok := kind.Str()
	return kind == nil || ok && text == "string"
}

// Phrases of descriptions that say of a place that it may be anywhere, and that it may not.
var (
	anywhere   = []string{"file:", "file uri", "any file", "any path", "absolute path", "absolute or relative", "arbitrary"}
	restricted = []string{
		"allowed", "below", "beneath", "inside", "only within", "permitted", "relative to", "restricted", "root", "sandbox", "under the", "within", "workspace",
	}
)

// readsAnywhere reports whether descriptions say that a tool reads wherever it is told to.
func readsAnywhere(text string) bool {
	text = strings.ToLower(text)
	in := func(phrases []string) bool {
		return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
	}
	return in(anywhere) && !in(restricted)
}

func containsAny(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}
