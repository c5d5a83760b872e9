package flags

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// DefaultConfig is read when it is there and --config says nothing else.
const DefaultConfig = "teasel.toml"

// Config is teasel.toml. Its keys are the names of the flags: those that all kinds share stand at the top, and any flag of a kind in
// the table of that kind, which takes precedence. Beside them there are the command of a kind, severities and accepted findings.
type Config struct {
	Severity map[string]string // by rule; "off" drops its findings

	path     string // "": there is no file
	values   table
	at       map[string]unstable.Position // by key, behind those of its tables and a dot
	accepted []report.Accepted
}

type table = map[string]any

// What is beside the flags in the file.
const (
	severityKey = "severity"
	acceptKey   = "accept" // why, by the finding's id
)

// commandKey returns the key of what stands behind the flags on the command line of a kind; "": there is no such kind.
func commandKey(kind string) string {
	for _, k := range kinds {
		if k.name == kind {
			return k.behind
		}
	}
	return ""
}

// notInFile are flags about a single run.
var notInFile = []string{"config", "dry-run", "help", "ui-token"}

// Settable returns the flags of a set that the file may set, by name.
func Settable(fs *pflag.FlagSet) map[string]*pflag.Flag {
	all := map[string]*pflag.Flag{}
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notInFile, f.Name) {
			all[f.Name] = f
		}
	})
	return all
}

// Shared returns the flags that every kind has.
func Shared() *pflag.FlagSet {
	cmd := &cobra.Command{}
	AddOptions(cmd, &Options{})
	return cmd.Flags()
}

// Configured is what a verb for a kind takes from the configuration beside flags, and the flags of a single run.
type Configured struct {
	Severity map[string]string `json:"severity,omitempty"` // by rule, from the configuration
	Accept   []report.Accepted `json:"-"`
	DryRun   bool              `json:"-"`
	Config   string            `json:"-"`
	Tolerant bool              `json:"-"` // a teasel.toml that is broken is left out: what the command is about may be elsewhere
}

// AddConfigured gives a command the flags of a single run.
func AddConfigured(cmd *cobra.Command, into *Configured, dryRun string) {
	cmd.Flags().Var(Named(&into.Config), "config", "configuration file (default teasel.toml, if there is one)")
	cmd.Flags().BoolVar(&into.DryRun, "dry-run", false, dryRun)
	SetGroup(cmd.Flags(), campaignGroup, "config", "dry-run")
}

// Configure reads the configuration and sets the flags of a verb for a kind that are not on the command line, from it and from the
// environment. It returns args or, if there are none, the command in the file.
func (o *Configured) Configure(cmd *cobra.Command, kind string, args []string) ([]string, error) {
	read := readConfig
	if o.Tolerant {
		read = func(root *cobra.Command, path string) (*Config, error) { return tolerateConfig(cmd, path) }
	}
	c, err := read(cmd.Root(), o.Config)
	if err == nil {
		err = checkSeverities(c.Severity)
	}
	if err != nil {
		return nil, err
	}
	o.Severity, o.Accept = c.Severity, c.accepted
	own, _ := c.values[kind].(table)
	if command, _ := own[commandKey(kind)].([]any); len(args) == 0 {
		for _, word := range command {
			args = append(args, fmt.Sprint(word))
		}
	}
	if err := applyEnvironment(cmd.Flags()); err != nil {
		return nil, err
	}
	for _, t := range [...]table{own, c.values} {
		for _, name := range slices.Sorted(maps.Keys(t)) {
			if err := applyValue(cmd.Flags(), name, t[name]); err != nil {
				return nil, exit.Usage("", "%s: %s %w", c.path, name, BadValue(err))
			}
		}
	}
	return args, nil
}

// readConfig reads the configuration file. An unknown key is an error with its line. The configuration is never nil, also with an error.
func readConfig(root *cobra.Command, path string) (*Config, error) {
	path = cmp.Or(path, os.Getenv("TEASEL_CONFIG"))
	c := &Config{path: cmp.Or(path, DefaultConfig)}
	data, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) && path == "" {
		return c, nil
	}
	if err != nil {
		return c, exit.Usage("name a file that can be read, or leave out --config", "reading configuration: %w", err)
	}
	if err := toml.Unmarshal(data, &c.values); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, col := e.Position()
			return c, exit.Usage("this is what stands there:\n"+e.String(), "%s:%d:%d: %w", c.path, row, col, err)
		}
		return c, exit.Usage("", "%s: %w", c.path, err)
	}
	c.at = positions(data)
	if err := c.check(root); err != nil {
		return c, err
	}
	if err := c.readSeverities(); err != nil {
		return c, err
	}
	return c, c.accept()
}

// tolerateConfig is [readConfig] for verbs about a directory, which the file in the working directory may have nothing to do with: if that
// is broken it is left out, with a warning. One that was named is not.
func tolerateConfig(cmd *cobra.Command, path string) (*Config, error) {
	c, err := readConfig(cmd.Root(), path)
	if err == nil || cmp.Or(path, os.Getenv("TEASEL_CONFIG")) != "" {
		return c, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: %v; %s is left out\n", err, DefaultConfig)
	return &Config{path: c.path}, nil
}

// problem returns an error about a key.
func (c *Config) problem(hint, key, format string, args ...any) error {
	at := c.at[key]
	return exit.Usage(hint, "%s:%d:%d: %w", c.path, at.Line, at.Column, fmt.Errorf(format, args...))
}

// check refuses keys that are no flags, and values that do not fit them.
func (c *Config) check(root *cobra.Command) error {
	shared := Settable(Shared())
	var unknown []string
	hint := "the keys are the names of the flags; see 'teasel help' and docs/configuration.md"
	for _, key := range c.inOrder() {
		name, known := key, shared
		value := c.values[key]
		if kind, rest, ok := strings.Cut(key, "."); ok {
			name, value = rest, c.values[kind].(table)[rest]
			known = maps.Clone(shared)
			if verb, _, err := root.Find([]string{kind}); err == nil {
				maps.Copy(known, Settable(verb.Flags()))
			}
			behind := commandKey(kind)
			known[behind] = &pflag.Flag{Name: behind, Value: pflagList()}
		}
		switch f := known[name]; {
		case f != nil:
			if t := typeOf(f); !t.fits(value) {
				return c.problem("", key, "%s: expected %s", key, t.want)
			}
		case name == key && (commandKey(key) != "" || key == severityKey || key == acceptKey):
			if _, ok := value.(table); !ok {
				return c.problem("", key, "%s: expected a table", key)
			}
		default:
			names := slices.Sorted(maps.Keys(known))
			if name == key { // it may be meant for a table
				names = append(append(names, Kinds()...), severityKey, acceptKey)
			}
			if near := Nearest(name, names); near != "" && len(unknown) == 0 {
				hint = "did you mean " + near + "? " + hint
			}
			unknown = append(unknown, fmt.Sprintf("%s:%d:%d: unknown key %q", c.path, c.at[key].Line, c.at[key].Column, key))
		}
	}
	if unknown != nil {
		return exit.Usage(hint, "%s", strings.Join(unknown, "\nteasel: "))
	}
	return nil
}

// inOrder returns the keys at the top and, behind the name of the table, of the tables of kinds, as they stand in the file.
func (c *Config) inOrder() (keys []string) {
	for key, value := range c.values {
		keys = append(keys, key)
		if t, ok := value.(table); ok && commandKey(key) != "" {
			for name := range t {
				keys = append(keys, key+"."+name)
			}
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.at[a].Line, c.at[b].Line), cmp.Compare(c.at[a].Column, c.at[b].Column), strings.Compare(a, b))
	})
	return keys
}

// pflagList returns the value of a flag that takes a list of texts.
func pflagList() pflag.Value {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.StringArray("list", nil, "")
	return fs.Lookup("list").Value
}

// texts returns the table of texts that has a name.
func (c *Config) texts(name, want string) (map[string]string, error) {
	t, _ := c.values[name].(table)
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		text, ok := t[key].(string)
		if !ok {
			return nil, c.problem("", name+"."+key, "%s of %s: expected %s", name, key, want)
		}
		out[key] = text
	}
	return out, nil
}

// readSeverities reads the table of severities.
func (c *Config) readSeverities() (err error) {
	const levels = "info, low, medium, high, critical or off"
	if c.Severity, err = c.texts(severityKey, levels); err != nil {
		return err
	}
	for _, rule := range slices.Sorted(maps.Keys(c.Severity)) {
		level := c.Severity[rule]
		if _, err := teasel.ParseSeverity(level); err != nil && level != "off" {
			return c.problem("", severityKey+"."+rule, "severity of %s: %q is none: expected %s", rule, level, levels)
		}
	}
	return nil
}

// accept reads the table of accepted findings.
func (c *Config) accept() error {
	reasons, err := c.texts(acceptKey, "a text such as \"known upstream, issue 12\"")
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(reasons)) {
		place := fmt.Sprintf("%s:%d", c.path, c.at[acceptKey+"."+id].Line)
		switch reason := strings.TrimSpace(reasons[id]); {
		case !corpus.ValidID(id):
			return exit.Usage("each finding's id is the name of its file, and in the JSON report", "%s: accept: %q is no finding's id: expected 16 hexadecimal digits", place, id)
		case reason == "":
			return exit.Usage("", "%s: accept: finding %s has no reason: expected a text such as \"known upstream, issue 12\"", place, id)
		default:
			c.accepted = append(c.accepted, report.Accepted{ID: id, Reason: reason, Place: place})
		}
	}
	return nil
}

// positions returns where each key and table stands, by its name and those of its tables, joined by dots.
func positions(data []byte) map[string]unstable.Position {
	at, within := map[string]unstable.Position{}, ""
	p := unstable.Parser{}
	p.Reset(data)
	// key notes where the key or table begins that an iterator is at, below the table before; it returns its full name.
	key := func(before string, names unstable.Iterator) string {
		name := before
		for names.Next() {
			where := p.Shape(names.Node().Raw).Start
			name += string(names.Node().Data)
			if _, ok := at[name]; !ok {
				at[name] = where
			}
			name += "."
		}
		return name
	}
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			within = key("", e.Key())
		case unstable.KeyValue:
			name := key(within, e.Key())
			if e.Value().Kind != unstable.InlineTable {
				continue
			}
			for kv := e.Value().Children(); kv.Next(); { // accept = { "..." = "..." }
				key(name, kv.Node().Key())
			}
		}
	}
	return at
}

// applyValue sets a flag, if there is one of this name that is not set yet.
func applyValue(fs *pflag.FlagSet, name string, value any) error {
	f := fs.Lookup(name)
	if f == nil || f.Changed {
		return nil
	}
	var texts []string
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			texts = append(texts, fmt.Sprint(e))
		}
	case table:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, key+"="+fmt.Sprint(v[key]))
		}
	default:
		texts = []string{fmt.Sprint(v)}
	}
	for _, text := range texts {
		if err := fs.Set(name, text); err != nil {
			return err
		}
	}
	return nil
}

func applyEnvironment(fs *pflag.FlagSet) (err error) {
	fs.VisitAll(func(f *pflag.Flag) {
		name := "TEASEL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || err != nil || f.Name == "help" || f.Name == "config" {
			return
		}
		if e := fs.Set(f.Name, value); e != nil {
			err = exit.Usage("", "environment variable %s %w", name, BadValue(e))
		}
	})
	return err
}

// ConfiguredTarget is a target that the configuration names.
type ConfiguredTarget struct {
	Kind   string // the verb that fuzzes it
	Target string // for people
}

// ConfiguredTargets returns the targets that the configuration names; none if there is no file. A file that names none is an error.
func ConfiguredTargets(root *cobra.Command) (ts []ConfiguredTarget, err error) {
	c, err := readConfig(root, "")
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		own, _ := c.values[kind.name].(table)
		var words []string
		for _, key := range kind.target {
			switch v := own[key].(type) {
			case string:
				words = append(words, v)
			case []any:
				for _, word := range v {
					words = append(words, fmt.Sprint(word))
				}
			}
		}
		if len(words) > 0 {
			ts = append(ts, ConfiguredTarget{kind.name, strings.Join(words, " ")})
		}
	}
	if len(ts) == 0 && c.at != nil { // the file was read
		return nil, exit.Usage(`add a table such as [native] or [mcp] with command = ["..."], [net] with connect = "127.0.0.1:{port}", or [go] with packages = ["./..."]; 'teasel init --force' writes the file anew`,
			"%s names nothing to fuzz", c.path)
	}
	return ts, nil
}
