package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Skip says why something of a target is not fuzzed.
type Skip struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
}

// Meta is what a campaign is about. Only Kind is needed.
type Meta struct {
	Version   string          `json:"version,omitempty"`   // of the program that runs it
	Kind      string          `json:"kind"`                // of target, for example mcp
	Name      string          `json:"name,omitempty"`      // of the target, in one line, for people
	Target    json.RawMessage `json:"target,omitempty"`    // the kind's own description of it
	Options   json.RawMessage `json:"options,omitempty"`   // what the user chose
	Directory string          `json:"directory,omitempty"` // in which it was begun: relative paths in Target and Options are relative to that; "": unknown
	Seed      uint64          `json:"seed"`                // of the generator
	Extension string          `json:"extension,omitempty"` // of the files of inputs, with its dot; "": none
	Crashes   []string        `json:"crashes,omitempty"`   // rules whose findings are crashes; nil: by name
	Hangs     []string        `json:"hangs,omitempty"`     // rules whose findings are hangs; nil: by name
	Subjects  []string        `json:"subjects,omitempty"`  // parts of the target that are fuzzed
	Skipped   []Skip          `json:"skipped,omitempty"`   // parts that are not, and why
	Blocked   []string        `json:"blocked,omitempty"`   // parts that are not because they may destroy something
	Library   string          `json:"library,omitempty"`   // that the target is built on, with its version; "": unknown
	AFL       bool            `json:"afl,omitempty"`       // other instances of AFL++ read this one: queue/, crashes/ and hangs/ are as AFL++ has them
	Build     string          `json:"build,omitempty"`     // identifies the build of the target; when it changes, testcases run again; "": unknown
	Edges     int             `json:"edges,omitempty"`     // of the target, whose features are as [EdgeSet] says; 0: unknown
}

// check refuses an extension that would lead files out of the directory.
func (m *Meta) check() error {
	switch rest, dotted := strings.CutPrefix(m.Extension, "."); {
	case m.Kind == "":
		return errors.New("expected a kind of target")
	case m.Extension != "" && (!dotted || !plainKey(rest)):
		return fmt.Errorf("extension %.40q: expected a dot with letters and digits after it", m.Extension)
	}
	return nil
}

// folder returns where the plain input of a finding goes; "": nowhere.
func (m *Meta) folder(rule string) string {
	named := func(rules []string, word string) bool {
		return slices.Contains(rules, rule) || (rules == nil && strings.HasSuffix(rule, word))
	}
	switch {
	case named(m.Crashes, "crash"):
		return Crashes
	case named(m.Hangs, "hang"):
		return Hangs
	}
	return ""
}

// Meta returns what the campaign is about.
func (d *Dir) Meta() Meta {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.meta
}

// Renew durably changes what the campaign is about, to a target that has changed: [Dir.Snapshot] returns its testcases as seeds from then
// on, since what they reach has to be measured again.
func (d *Dir) Renew(m Meta) error {
	return d.change(m, func() {
		clear(d.edges)
		d.state.unstable = nil
		for e := range d.state.kept() {
			seed := *e
			seed.Runs, seed.Features, seed.Measures, seed.Note = 0, teasel.FeatureSet{}, nil, nil
			d.state.put(&seed)
		}
	})
}

func (d *Dir) change(m Meta, further func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.writable()
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	d.meta = m
	further()
	return d.compact()
}
