package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
)

// defaultConfig is read when it is there and --config says nothing else.
const defaultConfig = "teasel.toml"

// config is teasel.toml. Its keys are the flags' names; what is not set is nil.
type config struct {
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
	NoUI      *bool    `toml:"no-ui"`
	StopAfter *int     `toml:"stop-after"`
	MaxMemory *string  `toml:"max-memory"`

	MCP      mcpConfig         `toml:"mcp"`
	Net      netConfig         `toml:"net"`
	Native   nativeConfig      `toml:"native"`
	Go       goConfig          `toml:"go"`
	Severity map[string]string `toml:"severity"` // by rule; "off" drops its findings
}

// mcpConfig holds the flags of teasel mcp, and the server for those who do not want to type it.
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

// netConfig holds the flags of teasel net, and the server.
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
}

// nativeConfig holds the flags of teasel native, and the program.
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

// configure reads the configuration and sets the flags that are not on the command line, from it and from the
// environment. table picks the table of the kind and the command in it, which is returned if args are none.
func configure(fs *pflag.FlagSet, path string, args []string, table func(*config) (any, []string)) ([]string, map[string]string, error) {
	c, path, err := readConfig(path)
	if err != nil {
		return nil, nil, err
	}
	kind, command := table(c)
	if len(args) > 0 {
		command = args
	}
	return command, c.Severity, c.apply(fs, path, kind)
}

// readConfig reads the configuration file. Every key that nobody knows is an error with its line.
func readConfig(path string) (*config, string, error) {
	if path == "" {
		path = os.Getenv("TEASEL_CONFIG")
	}
	explicit := path != ""
	if !explicit {
		path = defaultConfig
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return &config{}, "", nil
	}
	if err != nil {
		return nil, "", usage("name a file that can be read, or leave out --config", "reading configuration: %w", err)
	}
	var c config
	d := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, "", badConfig(path, err)
	}
	for rule, level := range c.Severity {
		if level == "off" {
			continue
		}
		if _, err := teasel.ParseSeverity(level); err != nil {
			return nil, "", usage("", "%s: severity of %s: %q is none: expected info, low, medium, high, critical or off", path, rule, level)
		}
	}
	return &c, path, nil
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
		return usage("the keys are the names of the flags; see 'teasel help' and docs/configuration.md", "%s", strings.Join(lines, "\nteasel: "))
	case errors.As(err, &decode):
		row, col := decode.Position()
		said, shown := decode.Error(), decode.String()
		if want := wantedValue(said); want != "" {
			shown = strings.Replace(shown, strings.TrimPrefix(said, "toml: "), "expected "+want, 1)
			said = strings.Join(decode.Key(), ".") + ": expected " + want
		}
		return usage("this is what stands there:\n"+shown, "%s:%d:%d: %s", path, row, col, said)
	}
	return usage("", "%s: %w", path, err)
}

// goType is where the library's message about a value that does not fit names the type of the field.
var goType = regexp.MustCompile(`^toml: .*\b(?:of type|cannot be stored in|into) (\S+)$`)

// wantedValue says what a value has to be that was refused with a message; "": the message is about something else.
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
	if want == "" { // of the file itself, and what it has for a kind or for severities
		want = "a table"
	}
	return want
}

// apply sets the flags that are not on the command line: from the environment, then from the file and its table of the
// kind.
func (c *config) apply(fs *pflag.FlagSet, path string, kind any) error {
	if err := applyEnvironment(fs); err != nil {
		return err
	}
	for _, table := range []any{c, kind} {
		v := reflect.ValueOf(table).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("toml")
			if err := applyField(fs, name, v.Field(i)); err != nil {
				return usage("", "%s: %s %w", path, name, badValue(err))
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
			err = usage("", "environment variable %s %w", name, badValue(e))
		}
	})
	return err
}
