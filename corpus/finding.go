package corpus

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
)

const findingVersion = 1

// FindingFile is a finding with all that is needed to reproduce it without its campaign.
type FindingFile struct {
	Kind    string          // of target, for example mcp
	Target  json.RawMessage // the kind's own description of the target
	Seed    uint64          // of the campaign
	Finding teasel.Finding

	Directory string // in which the campaign was begun: relative paths in Target are relative to that; "": unknown
}

// WriteFinding writes a finding durably: when it returns, a power failure does not lose it. Inputs that are JSON
// objects or arrays stand in the file byte for byte, for people to read; others are in base64.
func WriteFinding(path string, f *FindingFile) error {
	text, err := f.text()
	if err == nil {
		err = replace(path, text, true)
	}
	if err != nil {
		return fmt.Errorf("writing finding %s: %w", f.Finding.ID(), err)
	}
	return nil
}

// MarshalText returns what [WriteFinding] writes.
func (f *FindingFile) MarshalText() ([]byte, error) { return f.text() }

// ParseFinding reads what MarshalText has returned. name says in errors where it is from.
func ParseFinding(name string, text []byte) (FindingFile, error) {
	f, p := parseFinding(name, text)
	if p != nil {
		return FindingFile{}, p
	}
	return f, nil
}

// text lays the file out by hand, a field a line: an encoder would lay out the inputs anew, and they are wanted as
// they are.
func (f *FindingFile) text() ([]byte, error) {
	var w findingWriter
	fd := &f.Finding
	fmt.Fprintf(&w.b, "{\n  \"teasel-finding\": %d", findingVersion)
	w.field("kind", f.Kind)
	if len(f.Target) > 0 {
		w.field("target", f.Target)
	}
	w.optional("directory", f.Directory)
	w.field("seed", f.Seed)
	w.field("id", fd.ID())
	w.text("rule", fd.Rule)
	w.field("severity", fd.Severity)
	w.text("subject", fd.Subject)
	w.optional("fault", fd.Fault)
	w.optional("group", fd.Group)
	w.optional("place", fd.Place)
	w.text("message", fd.Message)
	w.optional("detail", fd.Detail)
	if len(w.escaped) > 0 {
		w.field("escaped", w.escaped)
	}
	if fd.Alone {
		w.field("alone", true)
	}
	if fd.Uncertain {
		w.field("uncertain", true)
	}
	if fd.Static {
		w.field("static", true)
	}
	if fd.Signal != 0 {
		w.field("signal", fd.Signal)
	}
	w.field("stable", fd.Stable)
	w.field("tries", fd.Tries)
	w.field("occurrences", fd.Occurrences)
	w.field("worker", fd.Worker)
	w.field("execution", fd.Execution)
	w.optional("stage", fd.Stage)
	w.optional("parent", fd.Parent)
	w.optional("change", fd.Change)
	if fd.Found > 0 {
		w.field("found", seconds(fd.Found))
	}
	if fd.Minimal {
		w.field("minimal", true)
	}
	w.input("input", fd.Input)
	if fd.Original != nil {
		w.input("original", fd.Original)
	}
	w.inputs("history", fd.History)
	w.b.WriteString("\n}\n")
	return w.b.Bytes(), w.failed
}

// findingWriter writes the fields of a finding's file.
type findingWriter struct {
	b       bytes.Buffer
	escaped []string // fields whose text has escapes
	failed  error
}

func (w *findingWriter) name(n string) { fmt.Fprintf(&w.b, ",\n  %q: ", n) }

func (w *findingWriter) field(n string, v any) {
	w.name(n)
	text, err := marshal(v)
	if err != nil && w.failed == nil {
		w.failed = fmt.Errorf("%s: %w", n, err)
	}
	w.b.Write(text)
}

// text writes what a target may have said, which need not be UTF-8.
func (w *findingWriter) text(n, s string) {
	if !utf8.ValidString(s) {
		w.escaped, s = append(w.escaped, n), escape(s)
	}
	w.field(n, s)
}

// optional writes a text unless it is empty.
func (w *findingWriter) optional(n, s string) {
	if s != "" {
		w.text(n, s)
	}
}

func (w *findingWriter) input(n string, data []byte) {
	w.name(n)
	w.b.Write(InputText(data))
}

// inputs writes inputs, a line each, unless there are none.
func (w *findingWriter) inputs(n string, all [][]byte) {
	if len(all) == 0 {
		return
	}
	w.name(n)
	for i, data := range all {
		w.b.WriteString([...]string{"[\n    ", ",\n    "}[min(i, 1)])
		w.b.Write(InputText(data))
	}
	w.b.WriteString("\n  ]")
}

// InputText returns how an input stands in a finding's file: verbatim when reading the file gives the same bytes
// back.
func InputText(data []byte) []byte {
	if verbatim(data) {
		return data
	}
	return []byte(`{"base64":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
}

func verbatim(data []byte) bool {
	if len(data) == 0 || (data[0] != '{' && data[0] != '[') || !utf8.Valid(data) {
		return false
	}
	if end := data[len(data)-1]; end != '}' && end != ']' {
		return false // trailing white space would be lost
	}
	// The input is one level deeper in the file, and there is a limit to the depth that a decoder takes.
	if !json.Valid(data) || !json.Valid(bytes.Join([][]byte{{'['}, {']'}}, data)) {
		return false
	}
	_, wrapped := unwrap(data)
	return !wrapped
}

// unwrap returns the value of an object with the one field "base64".
func unwrap(data []byte) (value json.RawMessage, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || len(fields) != 1 {
		return nil, false
	}
	value, ok = fields["base64"]
	return value, ok
}

// inputBytes undoes InputText.
func inputBytes(raw json.RawMessage) (data []byte, err error) {
	value, ok := unwrap(raw)
	if !ok {
		return raw, nil
	}
	err = json.Unmarshal(value, &data)
	return data, err
}

// ReadFinding reads what [WriteFinding] wrote, or what a person made of it. An error about the content is a
// [Problem], with the line and what was expected there. The id is not read: it follows from rule, subject and group.
func ReadFinding(path string) (FindingFile, error) {
	data, err := readRegular(path, math.MaxInt64)
	if err != nil {
		return FindingFile{}, fmt.Errorf("reading a finding: %w", err)
	}
	return ParseFinding(path, data)
}

const findingWanted = `a finding: an object with "teasel-finding", "kind", "rule" and "input"`

func parseFinding(path string, data []byte) (f FindingFile, wrong *Problem) {
	r := newReader(path, data)
	fields := findingFields(&f)
	var escaped []string
	version, seen := 0, map[string]bool{}
	whole := r.object(findingWanted, func(name string) bool {
		seen[name] = true
		switch known, ok := fields[name]; {
		case ok:
			return r.value(known.into, fmt.Sprintf("%q to be %s", name, known.want))
		case name == "teasel-finding":
			at := r.at()
			if !r.value(&version, "the version of the format, 1") {
				return false
			}
			if version != findingVersion && len(r.problems) == 0 {
				r.problem(at, "version %d of the format: expected %d", version, findingVersion).Err = ErrVersion
			}
			return true
		case name == "escaped":
			return r.value(&escaped, `"escaped" to be a list of the fields that have escapes`)
		case name == "input":
			return r.input(&f.Finding.Input)
		case name == "original":
			return r.input(&f.Finding.Original)
		case name == "history":
			return r.array("a list of inputs", func() bool {
				f.Finding.History = append(f.Finding.History, nil)
				return r.input(&f.Finding.History[len(f.Finding.History)-1])
			})
		}
		return r.skip() // of a later version
	})
	if whole {
		r.end()
		for _, name := range strings.Fields("teasel-finding kind rule severity input") {
			if !seen[name] {
				r.problem(0, "%q is missing: expected %s", name, findingWanted)
			}
		}
		r.unescape(fields, escaped)
	}
	for _, p := range r.problems {
		if wrong == nil || p.Err != nil { // a later version may use its fields in another way
			wrong = p
		}
	}
	return f, wrong
}

// unescape undoes the escapes in the fields that have some.
func (r *reader) unescape(fields map[string]wanted, names []string) {
	for _, name := range names {
		s, ok := fields[name].into.(*string)
		if !ok {
			r.problem(0, `"escaped" has %.40q: expected the name of a field that is a string`, name)
			continue
		}
		text, err := unescape(*s)
		if err != nil {
			r.problem(0, "%q has escapes: %v", name, err)
		}
		*s = text
	}
}

type wanted struct {
	into any
	want string
}

func findingFields(f *FindingFile) map[string]wanted {
	fd := &f.Finding
	return map[string]wanted{
		"kind":        {&f.Kind, "a kind of target, such as mcp"},
		"target":      {&f.Target, "the target"},
		"directory":   {&f.Directory, "a string"},
		"seed":        {&f.Seed, "a whole number"},
		"rule":        {&fd.Rule, "a rule's id, such as mcp/server-crash"},
		"severity":    {&fd.Severity, "info, low, medium, high or critical"},
		"subject":     {&fd.Subject, "a string"},
		"fault":       {&fd.Fault, "a string"},
		"group":       {&fd.Group, "a string"},
		"place":       {&fd.Place, "a string"},
		"message":     {&fd.Message, "a string"},
		"detail":      {&fd.Detail, "a string"},
		"signal":      {&fd.Signal, "a whole number"},
		"alone":       {&fd.Alone, "true or false"},
		"uncertain":   {&fd.Uncertain, "true or false"},
		"static":      {&fd.Static, "true or false"},
		"stable":      {&fd.Stable, "a whole number"},
		"tries":       {&fd.Tries, "a whole number"},
		"occurrences": {&fd.Occurrences, "a whole number"},
		"worker":      {&fd.Worker, "a whole number"},
		"execution":   {&fd.Execution, "a whole number"},
		"stage":       {&fd.Stage, "a string"},
		"parent":      {&fd.Parent, "a string"},
		"change":      {&fd.Change, "a string"},
		"found":       {(*seconds)(&fd.Found), "a number of seconds"},
		"minimal":     {&fd.Minimal, "true or false"},
	}
}

// input reads an input that InputText wrote; null is none.
func (r *reader) input(into *[]byte) bool {
	at := r.at()
	var raw json.RawMessage
	if !r.value(&raw, "an input") {
		return false
	}
	if string(raw) == "null" {
		return true
	}
	in, err := inputBytes(raw)
	if err != nil {
		r.problem(at, `expected an input, as it is or as {"base64":"..."}: %v`, err)
	}
	*into = in
	return true
}
