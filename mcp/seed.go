package mcp

import (
	"context"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Seed is a script that a campaign begins with.
type Seed struct {
	Name   string // what it is, unique, fit for a file name
	Valid  bool   // a server that works takes every message of it
	Script Script
}

// Seeds returns the scripts that a campaign of this mutator begins with, always the same: plain messages, a conform call
// of each tool, odd messages, chains of calls, what can be done to what the server has, and every check. They stand in the
// order in which they are worth running; what takes a process of its own or long comes last, one of it after another kind.
func (m *Mutator) Seeds() []Seed {
	all, err := m.SeedsContext(context.Background())
	if err != nil {
		panic("mcp: internal error: a context that never ends has ended: " + err.Error())
	}
	return all
}

// SeedsContext is like [Mutator.Seeds] but stops when the context ends, and returns the context's error.
func (m *Mutator) SeedsContext(ctx context.Context) ([]Seed, error) {
	s := seeds{b: m.e.b, used: make(map[string]bool)}
	s.valid()
	s.edges()
	s.chains()
	s.known()
	if err := s.checks(ctx, m.profile.NoGrowth); err != nil {
		return nil, err
	}
	// Last, for a server may take long to start, and at first others want one.
	s.add("initialize", true, fresh("", append(handshake(s.b.version()), sendText(pingLine))...))
	return s.all, nil
}

type seeds struct {
	b    *material
	all  []Seed
	used map[string]bool
}

// add gives a seed a name that no other one has.
func (s *seeds) add(name string, valid bool, in Script) {
	name = fileName(name)
	unique := name
	for n := 2; s.used[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	s.used[unique] = true
	s.all = append(s.all, Seed{Name: unique, Valid: valid, Script: in})
}

// fileName makes a name of small letters, digits, _ and - out of anything.
func fileName(name string) string {
	const most = 80
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if b.Len() >= most {
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "seed"
	}
	return b.String()
}

func (s *seeds) valid() {
	ask := func(name, method string, params *mutate.JSON) {
		s.add(name, true, shared("", send(requestLine(method, params))))
	}
	ask("ping", "ping", nil)
	eachList(s.b.repertoire, func(method string) { ask(method, method, nil) })
	for _, t := range s.b.tools {
		s.add("call "+t.Name, true, shared("", send(t.call())))
		if !t.full.Equal(t.plain) {
			s.add("call "+t.Name+" in full", true, shared("", send(t.callWith(t.full))))
		}
	}
	for i := range s.b.session.Resources[:min(16, len(s.b.session.Resources))] {
		uri := s.b.session.Resources[i].URI
		ask("read "+uri, "resources/read", object("uri", uri))
	}
	for i := range s.b.session.Templates {
		ask("read template", "resources/read", object("uri", expandTemplate(s.b.session.Templates[i].URI, func(string) string { return "1" })))
	}
	for i := range s.b.session.Prompts {
		p := &s.b.session.Prompts[i]
		s.add("prompt "+p.Name, true, shared("", send(promptLine(p, s.b.likely))))
	}
	s.mentioned(ask)
	eachCompletion(s.b.session, func(name string, ref func() *mutate.JSON, argument string) {
		if s.b.session.Has("completions") {
			s.add("complete "+name+" "+argument, true, shared("", send(completionLine(ref(), argument, ""))))
		}
	})
	if subscribe := s.b.session.Capabilities.Get("resources").Get("subscribe"); subscribe != nil && subscribe.Text == "true" && len(s.b.session.Resources) > 0 {
		uri := s.b.session.Resources[0].URI
		s.add("subscribe", true, shared("", send(requestLine("resources/subscribe", object("uri", uri))),
			send(requestLine("resources/unsubscribe", object("uri", uri)))))
	}
	if s.b.session.Has("logging") {
		s.add("log level", true, shared("", send(levelLine(mutate.NewString("error")))))
	}
}

// mentioned adds what the server lets be known of values: each as an argument of a prompt and as a variable of a
// template.
func (s *seeds) mentioned(ask func(name, method string, params *mutate.JSON)) {
	instead := func(name, value string) func(string) string {
		return func(other string) string {
			if other == name {
				return value
			}
			return s.b.likely(other)
		}
	}
	for i := range s.b.session.Templates {
		uri := s.b.session.Templates[i].URI
		for _, name := range templateVariables(uri) {
			for _, value := range s.b.spoken[name][:min(maxMentioned, len(s.b.spoken[name]))] {
				ask("read template "+value, "resources/read", object("uri", expandTemplate(uri, instead(name, value))))
			}
		}
	}
	for i := range s.b.session.Prompts {
		p := &s.b.session.Prompts[i]
		for _, a := range p.Arguments {
			for _, value := range s.b.spoken[a.Name][:min(maxMentioned, len(s.b.spoken[a.Name]))] {
				s.add("prompt "+p.Name+" "+a.Name+" "+value, true, shared("", send(promptLine(p, instead(a.Name, value)))))
			}
		}
	}
}

// samples are calls of all tools in which every two values of arguments occur together; see [callable.samples]. The
// tools stand in turn.
func (s *seeds) samples(ctx context.Context) (all []Seed) {
	most := min(maxSamples, max(minSamples, allSamples/max(len(s.b.tools), 1)))
	var calls [][]Seed
	for _, t := range s.b.tools {
		if t.Slow || ctx.Err() != nil {
			continue
		}
		var of []Seed
		for n, v := range samplesOf(t, s.b.spoken, most) {
			of = append(of, Seed{Name: "call " + t.Name + " sample " + strconv.Itoa(n), Valid: true, Script: shared("", send(t.callWith(v)))})
		}
		calls = append(calls, of)
	}
	for at := range most {
		for _, of := range calls {
			if at < len(of) {
				all = append(all, of[at])
			}
		}
	}
	return all
}

// samplesInTurn is how many samples stand between two expensive scripts of one kind.
const samplesInTurn = 16

func (s *seeds) edges() {
	line := func(name, text string) { s.add(name, false, shared("", sendText(text), sendText(pingLine))) }
	line("empty params", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{}}`)
	line("null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`)
	line("string id", `{"jsonrpc":"2.0","id":"test-id","method":"ping"}`)
	line("negative id", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`)
	line("empty string id", `{"jsonrpc":"2.0","id":"","method":"ping"}`)
	line("unknown method", `{"jsonrpc":"2.0","id":"@id","method":"`+controls[0]+`"}`)
	line("unknown notification", `{"jsonrpc":"2.0","method":"notifications/`+controls[0]+`"}`)
	line("unknown tool", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"`+controls[0]+`","arguments":{}}}`)
	line("initialized again", initializedLine)
	for _, text := range unasked {
		line("unasked", text)
	}
	for _, text := range mismatches {
		line("mismatch", text)
	}
	line("unknown resource", `{"jsonrpc":"2.0","id":"@id","method":"resources/read","params":{"uri":"`+controls[0]+`://a"}}`)
	line("unknown prompt", `{"jsonrpc":"2.0","id":"@id","method":"prompts/get","params":{"name":"`+controls[0]+`"}}`)
	for i := range s.b.session.Prompts {
		p := &s.b.session.Prompts[i]
		s.add("prompt without arguments "+p.Name, false, shared("", send(requestLine("prompts/get", object("name", p.Name)))))
	}
}

// maxChains bounds how many chains of calls are seeds.
const maxChains = 160

// chains adds the sequences of all chains, with the likeliest guess of all of them first.
func (s *seeds) chains() {
	added := 0
	for guess := range 8 {
		for i := range s.b.chains {
			c := &s.b.chains[i]
			for _, q := range c.sequences() {
				if added >= maxChains {
					return
				}
				if in, ok := c.script(q, guess, plainArguments); ok {
					s.add("chain "+c.opener.Name+" "+q.name, false, in)
					added++
				}
			}
		}
	}
}

// known adds the scripts about what the server had before the campaign.
func (s *seeds) known() {
	left := maxKnownScripts
	for _, k := range findKnown(s.b.tools, s.b.session.Learned) {
		k.scripts(func(name string, in Script) {
			if left--; left >= 0 {
				s.add("known "+name, false, in)
			}
		})
	}
}

// echoes adds calls in which one text stands in two places: what refers to itself is what graphs and transfers trip over.
func (s *seeds) echoes(ctx context.Context) {
	for _, t := range s.b.tools {
		if t.Slow || ctx.Err() != nil {
			continue
		}
		for n, v := range echoesOf(t) {
			s.add("echo "+t.Name+" "+strconv.Itoa(n), false, shared("", send(t.callWith(v))))
		}
	}
}

// checks adds the scripts of all checks: cheap ones in order, expensive ones in turn with one another and with samples. The error
// is the context's.
func (s *seeds) checks(ctx context.Context, noGrowth bool) error {
	var expensive [][]Seed
	var largest []Seed // they take a server seconds each, and the others are not to wait for them
	for i := range checks {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &checks[i]
		if noGrowth && (measuresTime(c.label) || c.label == CheckGrowthMemory || i == len(checks)-1) { // the last are the largest
			continue
		}
		var made []Seed
		c.make(s.b.repertoire, fixedRand(uint64(100+i)), func(name string, in Script) {
			made = append(made, Seed{Name: c.label + " " + name, Script: in})
		})
		switch {
		case i == len(checks)-1:
			largest = made
			continue
		case c.expensive:
			expensive = append(expensive, made)
			continue
		}
		for _, m := range made {
			s.add(m.Name, false, m.Script)
		}
	}
	eachOf(someTexts(s.b.repertoire, fixedRand(99), maxAttacked), trying("", pollutions, func(name string, in Script) { s.add("pollution "+name, false, in) }))
	s.echoes(ctx)
	samples := s.samples(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	for at, more := 0, true; more; at++ {
		n := min(samplesInTurn, len(samples))
		for _, m := range samples[:n] {
			s.add(m.Name, true, m.Script)
		}
		samples = samples[n:]
		more = len(samples) > 0
		for _, made := range expensive {
			if at < len(made) {
				s.add(made[at].Name, false, made[at].Script)
				more = true
			}
		}
	}
	for _, m := range largest {
		s.add(m.Name, false, m.Script)
	}
	return nil
}
