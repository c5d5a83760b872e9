package mcp

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mutate"
)

// Bounds of what is asked before a campaign to learn what a server knows, and of what is kept of it.
const (
	maxLookedAt = 24
	learnLimit  = 3 * time.Second // for all of it
	maxLearned  = 8               // values of one name
)

// Learn calls those of the chosen tools that only read, once each with plain arguments, and reads some resources. What
// their answers show under the name of an argument, such as the keys of what there is, goes into the session's Learned:
// with a key that the server has, a call gets further than with one that it has not. It starts a process of its own and
// ends it. A server that refuses, falls silent or dies meanwhile teaches less, which is no error: what is wrong with it is
// the campaign's business.
func (t *Target) Learn(ctx context.Context, session *Session, choice *Choice) error {
	lines := lookingLines(session, choice)
	if len(lines) == 0 {
		return nil
	}
	s, err := t.launch()
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := t.shakeHands(ctx, s); err != nil {
		return err
	}
	var shown Note
	deadline := time.Now().Add(learnLimit)
	for i, line := range lines {
		answer, _, err := s.call(ctx, line, min(t.timeout(), completionLimit, time.Until(deadline)))
		if errors.Is(err, errSilent) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			break
		}
		if answer.Result != nil && !answer.isRefusal() {
			shown.captures(i, answer.Result)
		}
	}
	s.proc.Stop(stopTime)
	session.Learned = shown.byName(argumentNames(session, choice))
	return ctx.Err()
}

// lookingLines are the requests that are made to see what there is.
func lookingLines(session *Session, choice *Choice) (lines [][]byte) {
	b := &repertoire{session: session}
	for i := range choice.Tools {
		t := &choice.Tools[i]
		if words := splitWords(t.Name); len(words) == 0 || looksSlow(t) || !slices.Contains(readingVerbs, words[0]) && !t.hint("readOnlyHint") {
			continue
		}
		if len(lines) < maxLookedAt {
			lines = append(lines, b.prepare(t).call())
		}
	}
	for i := range session.Resources {
		if len(lines) < maxLookedAt {
			lines = append(lines, requestLine("resources/read", object("uri", session.Resources[i].URI)))
		}
	}
	return lines
}

// argumentNames are those of all that takes a value.
func argumentNames(session *Session, choice *Choice) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range choice.Tools {
		properties := choice.Tools[i].InputSchema.Get("properties")
		if properties == nil {
			continue
		}
		for _, m := range properties.Members {
			if choices(m.Value) == nil {
				add(m.Name)
			}
		}
	}
	for i := range session.Prompts {
		for _, a := range session.Prompts[i].Arguments {
			add(a.Name)
		}
	}
	for i := range session.Templates {
		for _, name := range templateVariables(session.Templates[i].URI) {
			add(name)
		}
	}
	return names
}

// ofTheProtocol is where a result has what every result has, or a text as it stands.
var ofTheProtocol = regexp.MustCompile(`^/contents?/\d+/(text|type|mimeType|blob|data)(#\d+)?$|#\d+$`)

// byName sorts the captures by the arguments whose names they go by.
func (n *Note) byName(arguments []string) map[string][]string {
	learned := make(map[string][]string)
	for i := range n.Captures {
		c := &n.Captures[i]
		if c.Value == "" || len(c.Value) > maxSpoken || ofTheProtocol.MatchString(c.Pointer) {
			continue
		}
		for _, name := range arguments {
			if known := learned[name]; c.names(name) && len(known) < maxLearned && !slices.Contains(known, c.Value) {
				learned[name] = append(known, c.Value)
			}
		}
	}
	return learned
}

// inform puts what was learned of the server into the tool's examples, where the schema allows it.
func (c *callable) inform(learned map[string][]string) {
	for _, property := range c.properties() {
		values := learned[property.Name]
		if len(values) == 0 {
			continue
		}
		for _, example := range []**mutate.JSON{&c.plain, &c.full} {
			if (*example).Get(property.Name) == nil {
				continue
			}
			for _, value := range append([]*mutate.JSON{mutate.NewString(values[0])}, numbers(values[:1])...) {
				if better := c.changed(*example, property.Name, value); better != nil {
					*example = better
					break
				}
			}
		}
	}
}
