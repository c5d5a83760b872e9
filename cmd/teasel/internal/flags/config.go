package flags

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

// DefaultConfig is read when it is there and --config says nothing else.
const DefaultConfig = "teasel.toml"

// Config is teasel.toml. Its keys are the names of the flags; a key that is not set is nil.
type Config struct {
	Duration  *string  `toml:"duration"`
	Runs      *uint64  `toml:"runs"`
	Workers   *int     `toml:"workers"`
	Seed      *uint64  `toml:"seed"`
	Timeout   *string  `toml:"timeout"`
	Out       *string  `toml:"out"`
	Corpus    []string `toml:"corpus"`
	Dict      []string `toml:"dict"`
	Profile   *string  `toml:"profile"`
	Format    *string  `toml:"format"`
	FailOn    *string  `toml:"fail-on"`
	Baseline  *string  `toml:"baseline"`
	NoUI      *bool    `toml:"no-ui"`
	StopAfter *int     `toml:"stop-after"`
	MaxMemory *string  `toml:"max-memory"`

	MCP      mcpConfig         `toml:"mcp"`
	Net      netConfig         `toml:"net"`
	Native   nativeConfig      `toml:"native"`
	Go       goConfig          `toml:"go"`
	Severity map[string]string `toml:"severity"` // by rule; "off" drops its findings
	Accept   map[string]string `toml:"accept"`   // why, by the finding's id

	accepted []report.Accepted // Accept, each with its place in the file
}

// mcpConfig holds the flags of teasel mcp, and the command of the server.
type mcpConfig struct {
	Command     []string `toml:"command"`
	Env         []string `toml:"env"`
	Dir         *string  `toml:"dir"`
	Include     []string `toml:"include"`
	Exclude     []string `toml:"exclude"`
	Allow       []string `toml:"allow"`
	Destructive []string `toml:"destructive"`
	Mode        *string  `toml:"mode"`
	MutateRatio *float64 `toml:"mutate-ratio"`
	Protocol    *string  `toml:"protocol-version"`
	Mutations   []string `toml:"mutation"`
	Window      *int     `toml:"window"`
	Start       *string  `toml:"start-timeout"`
	Strict      *bool    `toml:"strict"`
	Slow        *string  `toml:"slow"`
}

// netConfig holds the flags of teasel net, and the command of the server.
type netConfig struct {
	Command     []string `toml:"command"`
	Env         []string `toml:"env"`
	Dir         *string  `toml:"dir"`
	Model       *string  `toml:"model"`
	Connect     *string  `toml:"connect"`
	Keep        *bool    `toml:"keep"`
	Captures    []string `toml:"pcap"`
	User        *string  `toml:"user"`
	Start       *string  `toml:"start-timeout"`
	MemoryLimit *string  `toml:"memory-limit"`
	Restart     *uint64  `toml:"restart-every"`
	Reset       *string  `toml:"reset"`
	Health      *string  `toml:"health"`
	Strict      *bool    `toml:"strict"`
	Order       *string  `toml:"order"`
	State       *string  `toml:"state"`

	Mode           *string        `toml:"mode"`
	StructureShare *int           `toml:"structure-share"`
	OrderShare     *int           `toml:"order-share"`
	Fields         []string       `toml:"field"`
	BitRatio       *float64       `toml:"bit-ratio"`
	MaxMessages    *int           `toml:"max-messages"`
	MaxBytes       *int           `toml:"max-bytes"`
	Weights        map[string]int `toml:"weights"` // by mutation
}

// nativeConfig holds the flags of teasel native, and the command of the program.
type nativeConfig struct {
	Command  []string `toml:"command"`
	Env      []string `toml:"env"`
	Dir      *string  `toml:"dir"`
	Operands *string  `toml:"operands"`
	Memory   *string  `toml:"memory-limit"`
	Batch    *int     `toml:"batch"`
	Exits    []int    `toml:"crash-exit"`
	Mode     *string  `toml:"mode"`
	Tracer   *string  `toml:"tracer"`
	NoBind   *bool    `toml:"no-affinity"`
}

// goConfig holds the flags of teasel go, and the packages.
type goConfig struct {
	Packages []string `toml:"packages"`
	Run      *string  `toml:"run"`
	Tags     *string  `toml:"tags"`
	Race     *bool    `toml:"race"`
	Memory   *string  `toml:"memory-limit"`
}

// Configure reads the configuration and sets the flags that are not on the command line, from it and from the
// environment. table returns the table of the kind, and the command in it, which is returned if there are no args.
func Configure(fs *pflag.FlagSet, path string, args []string, table func(*Config) (any, []string)) ([]string, *Config, error) {
	c, path, err := readConfig(path)
	if err != nil {
		return nil, c, err
	}
	kind, command := table(c)
	if len(args) > 0 {
		command = args
	}
	return command, c, c.apply(fs, path, kind)
}

// readConfig reads the configuration file. An unknown key is an error with its line. The configuration is never nil, also with
// an error.
func readConfig(path string) (*Config, string, error) {
	if path == "" {
		path = os.Getenv("TEASEL_CONFIG")
	}
	explicit := path != ""
	if !explicit {
		path = DefaultConfig
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return &Config{}, "", nil
	}
	if err != nil {
		return &Config{}, "", exit.Usage("name a file that can be read, or leave out --config", "reading configuration: %w", err)
	}
	var c Config
	d := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return &c, "", badConfig(path, err)
	}
	lines := tableLines(data)
	for _, rule := range slices.Sorted(maps.Keys(c.Severity)) {
		level := c.Severity[rule]
		if level == "off" {
			continue
		}
		if _, err := teasel.ParseSeverity(level); err != nil {
			return &c, "", exit.Usage("", "%s:%d: severity of %s: %q is none: expected info, low, medium, high, critical or off", path, lines["severity."+rule], rule, level)
		}
	}
	return &c, path, c.accept(path, lines)
}

// AcceptedFindings returns the findings that the file accepts, each with its place in the file.
func (c *Config) AcceptedFindings() []report.Accepted { return c.accepted }

// accept reads the table of accepted findings.
func (c *Config) accept(path string, lines map[string]int) error {
	for _, id := range slices.Sorted(maps.Keys(c.Accept)) {
		place := fmt.Sprintf("%s:%d", path, lines["accept."+id])
		switch reason := strings.TrimSpace(c.Accept[id]); {
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

// tableLines returns the line of each key, by its name and those of its tables, joined by dots.
func tableLines(data []byte) map[string]int {
	lines, table := map[string]int{}, ""
	p := unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		var names []string
		line := 0
		for at := e.Key(); at.Next(); {
			if line == 0 {
				line = p.Shape(at.Node().Raw).Start.Line
			}
			names = append(names, string(at.Node().Data))
		}
		name := strings.Join(names, ".")
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name + "."
		case unstable.KeyValue:
			lines[table+name] = line
			if e.Value().Kind != unstable.InlineTable {
				continue
			}
			for kv := e.Value().Children(); kv.Next(); { // accept = { "..." = "..." }
				for at := kv.Node().Key(); at.Next(); {
					lines[table+name+"."+string(at.Node().Data)] = p.Shape(at.Node().Raw).Start.Line
				}
			}
		}
	}
	return lines
}

func badConfig(path string, err error) error {
	var strict *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var lines []string
		for _, e := range strict.Errors {
			row, col := e.Position()
			lines = append(lines, fmt.Sprintf("%s:%d:%d: unknown key %q", path, row, col, strings.Join(e.Key(), ".")))
		}
		return exit.Usage("the keys are the names of the flags; see 'teasel help' and docs/configuration.md", "%s", strings.Join(lines, "\nteasel: "))
	case errors.As(err, &decode):
		row, col := decode.Position()
		said, shown := decode.Error(), decode.String()
		if want := wantedValue(said); want != "" {
			shown = strings.Replace(shown, strings.TrimPrefix(said, "toml: "), "expected "+want, 1)
			said = strings.Join(decode.Key(), ".") + ": expected " + want
		}
		return exit.Usage("this is what stands there:\n"+shown, "%s:%d:%d: %s", path, row, col, said)
	}
	return exit.Usage("", "%s: %w", path, err)
}

// goType is where the library's message about a value that does not fit names the type of the field.
var goType = regexp.MustCompile(`^toml: .*\b(?:of type|cannot be stored in|into) (\S+)$`)

// wantedValue returns what was expected in place of the value that a message is about; "": it is about something else.
func wantedValue(message string) string {
	m := goType.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	want := map[string]string{
		"string":   `a text such as "30s"`,
		"[]string": `a list such as ["node", "server.js"]`,
		"[]int":    "a list such as [3, 4]",
		"int":      "a whole number",
		"uint64":   "a whole number, 0 or more",
		"float64":  "a number such as 0.5",
		"bool":     "true or false",
	}[strings.TrimLeft(m[1], "*")]
	if want == "" { // the value is a table: of a kind, or of severities
		want = "a table"
	}
	return want
}

// apply sets the flags that are not on the command line: from the environment, then from the file and its table of the
// kind.
func (c *Config) apply(fs *pflag.FlagSet, path string, kind any) error {
	if err := applyEnvironment(fs); err != nil {
		return err
	}
	for _, table := range []any{c, kind} {
		v := reflect.ValueOf(table).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("toml")
			if err := applyField(fs, name, v.Field(i)); err != nil {
				return exit.Usage("", "%s: %s %w", path, name, BadValue(err))
			}
		}
	}
	return nil
}

func applyField(fs *pflag.FlagSet, name string, v reflect.Value) error {
	f := fs.Lookup(name)
	if f == nil || f.Changed {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return fs.Set(name, fmt.Sprint(v.Elem().Interface()))
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := fs.Set(name, fmt.Sprint(v.Index(i).Interface())); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			if err := fs.Set(name, key.String()+"="+fmt.Sprint(v.MapIndex(key).Interface())); err != nil {
				return err
			}
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
