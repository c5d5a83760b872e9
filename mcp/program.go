package mcp

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

//go:embed program.py
var programText string

// Program is what a program needs that shows a finding without teasel. The zero value is a server over standard input and output that
// cannot be started.
type Program struct {
	About     string // a line about the finding
	Command   []string
	Env       []string // NAME=value
	Dir       string
	URL       string   // of a server over HTTP
	Header    []string // with the names of environment variables, and not their values
	Insecure  bool
	Stateless bool          // the server is spoken to without a handshake
	Version   string        // the protocol version to ask for; "": the newest
	Timeout   time.Duration // for an answer; 0: 5s
	KeepHome  bool          // the server has the user's home, not one of its own
	Sandbox   bool          // it was found in a sandbox: the program warns that the server runs outside
}

// warning is what the user has to know before the server runs; "": nothing.
func (p *Program) warning() string {
	if p.Sandbox {
		return isolation.OutsideWarning
	}
	return ""
}

// about is what stands at the top, as lines of a comment.
func (p *Program) about() string {
	text := comment(p.About)
	if w := p.warning(); w != "" {
		text += "\n#\n# Warning: " + w + "."
	}
	return text
}

// programData is what program.py reads.
type programData struct {
	Command   []string          `json:"command"`
	Env       map[string]string `json:"env"`
	Dir       string            `json:"dir"`
	Warning   string            `json:"warning"`
	OwnHome   bool              `json:"own_home"`
	URL       string            `json:"url"`
	Header    []string          `json:"header"`
	Insecure  bool              `json:"insecure"`
	Timeout   float64           `json:"timeout"`
	Huge      int               `json:"huge"`
	Canary    string            `json:"canary"`
	Handshake int               `json:"handshake"` // steps before those of the script
	Steps     []programStep     `json:"steps"`
}

type programStep struct {
	Line      *string `json:"line,omitempty"`
	Base64    []byte  `json:"base64,omitempty"` // of a line that is not UTF-8
	Head      string  `json:"head"`
	Times     int     `json:"times"`
	NoWait    bool    `json:"nowait"`
	NoNewline bool    `json:"nonewline"`
	Close     bool    `json:"close"`
	Asked     string  `json:"asked"`
}

// Python returns a program in Python that sends a script, prints the exchange, and says what became of the server. It needs nothing but
// the standard library.
func (p *Program) Python(in script.Script) (string, error) {
	d := programData{Command: p.Command, Env: map[string]string{}, Dir: p.Dir, Warning: p.warning(), OwnHome: !p.KeepHome, URL: p.URL, Header: p.Header, Insecure: p.Insecure, Timeout: p.Timeout.Seconds(), Huge: 32 << 10}
	if d.Timeout == 0 {
		d.Timeout = 5
	}
	for _, v := range p.Env {
		name, value, _ := strings.Cut(v, "=")
		d.Env[name] = value
	}
	if d.Command == nil {
		d.Command = []string{}
	}
	if d.Header == nil {
		d.Header = []string{}
	}
	steps := in.Steps
	if in.Start == script.Shared && !p.Stateless {
		begin := script.Handshake(p.version())
		d.Handshake = len(begin)
		steps = append(begin, steps...)
	}
	for i := range steps {
		s := &steps[i]
		head := s.Head
		if p.Stateless && p.URL != "" {
			m := jsonrpc.Parse(s.Line)
			head = withFields(head, session.RequestHead(&m, nil))
		}
		step := programStep{Head: head, Times: s.Times, NoWait: s.NoWait, NoNewline: s.NoNewline, Close: s.Close, Asked: s.Asked}
		if text := string(s.Line); utf8.ValidString(text) {
			step.Line = &text
		} else {
			step.Base64 = s.Line
		}
		if strings.Contains(string(s.Line), "@{canary") {
			d.Canary = script.CanaryText
		}
		d.Steps = append(d.Steps, step)
	}
	data, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("writing the program's data: %w", err)
	}
	return strings.NewReplacer("WHAT", p.about(), "OWN_HOME\n", isolation.ScriptHome(), "JSON\"\"\"", string(plain.JSON(data))+`"""`).Replace(programText), nil
}

// withFields returns how a head differs, with lines that every request has: before the others, which may change them, but behind the method.
func withFields(head, fields string) string {
	first, rest, _ := strings.Cut(head, "\n")
	if first == "" || strings.Contains(first, ":") || first[0] == '+' {
		first, rest = "", head
	}
	return strings.Trim(first+"\n"+fields+"\n"+rest, "\n")
}

func (p *Program) version() string {
	if p.Version != "" {
		return p.Version
	}
	return session.Versions[len(session.Versions)-1]
}

// Curl returns a shell script that sends a script of one request over HTTP with curl, and whether there is one that does.
func (p *Program) Curl(in script.Script) (string, bool) {
	if p.URL == "" || p.Stateless || in.Start != script.Shared || len(in.Steps) != 1 || len(in.Steps[0].Line) > 8<<10 {
		return "", false
	}
	s := &in.Steps[0]
	line := strings.ReplaceAll(string(s.Line), `"@id"`, "2")
	if s.Times > 1 || s.NoNewline || strings.Contains(line, "@") || !utf8.ValidString(line) || strings.ContainsAny(s.Head+line, "\x00") {
		return "", false
	}
	fields := []string{"Accept: application/json, text/event-stream", "Content-Type: application/json", "Mcp-Session-Id: $session", "MCP-Protocol-Version: " + p.version()}
	fields = append(fields, p.Header...)
	method := "POST"
	for i, change := range strings.Split(s.Head, "\n") {
		name, _, colon := strings.Cut(change, ":")
		switch {
		case change == "":
		case i == 0 && !colon && change[0] != '+':
			if strings.Contains(change, " ") {
				return "", false
			}
			method = change
		case change[0] == '+' || !colon:
			return "", false
		default:
			kept := fields[:0]
			for _, f := range fields {
				if other, _, _ := strings.Cut(f, ":"); !strings.EqualFold(other, name) {
					kept = append(kept, f)
				}
			}
			fields = append(kept, change) // "Name:" has curl leave it out
		}
	}
	var b strings.Builder
	p.curlHead(&b)
	post := func(line string, fields []string, more string) string {
		text := "curl -sS " + more
		for _, f := range fields {
			text += " \\\n  -H " + shellWord(f)
		}
		if line != "" {
			text += " \\\n  --data-binary " + shellText(line)
		}
		return text + ` "$url"`
	}
	plain := append([]string{"Accept: application/json, text/event-stream", "Content-Type: application/json"}, p.Header...)
	begin := strings.ReplaceAll(string(session.InitializeLine(p.version())), `"@id"`, "1")
	fmt.Fprintf(&b, "session=$(%s |\n  tr -d '\\r' | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii]d: *//p')\n", post(begin, plain, "-o /dev/null -D -"))
	fmt.Fprintf(&b, "%s\n", post(session.InitializedLine, append(plain, "Mcp-Session-Id: $session"), "-o /dev/null"))
	more := "-i --path-as-is -X " + method
	if method == "GET" { // its response may be a stream that does not end
		more += " --max-time 5"
	}
	fmt.Fprintf(&b, "%s\n", post(line, fields, more))
	return b.String(), true
}

// curlHead writes what the script is about, and the server's address.
func (p *Program) curlHead(b *strings.Builder) {
	fmt.Fprintf(b, "#!/bin/sh\n# %s\n", p.about())
	if w := p.warning(); w != "" {
		fmt.Fprintf(b, "echo %s >&2\n", shellText("warning: "+w))
	}
	address := p.URL
	if len(p.Command) > 0 {
		fmt.Fprintf(b, "# Start the server first, on a port of yours: %s\n", comment(strings.Join(append(append([]string{}, p.Env...), p.Command...), " ")))
		address = strings.ReplaceAll(address, "{port}", "${PORT:?set PORT to that port}")
	}
	fmt.Fprintf(b, "url=\"%s\"\n", address)
}

// comment makes a text one line that a terminal shows as it is.
func comment(s string) string { return jsonrpc.Cut(plain.Line(s), 1000) }

// shellText quotes a text for a shell.
func shellText(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellWord quotes a text in which the shell fills in variables.
func shellWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`").Replace(s) + `"`
}
