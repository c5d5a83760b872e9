package gen

import (
	"context"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Seed is a script that a campaign begins with.
type Seed struct {
	Name   string // what it is, unique, fit for a file name
	Valid  bool   // a server that works takes every message of it
	Script script.Script
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
	s.existing()
	if err := s.checks(ctx, m.profile.NoGrowth); err != nil {
		return nil, err
	}
	// Last, for a server may take long to start, and at first others want one.
	if !s.b.Session.Stateless {
		s.add("initialize", true, script.NewFresh("", append(script.Handshake(s.b.Version()), script.SendText(session.PingLine))...))
	}
	return s.all, nil
}

type seeds struct {
	b    *material
	all  []Seed
	used map[string]bool
}

// add gives a seed a name that no other one has.
func (s *seeds) add(name string, valid bool, in script.Script) {
	name = fileName(name)
	unique := name
	for n := 2; s.used[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	s.used[unique] = true
	stamp(s.b.Session, &in)
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
		s.add(name, true, script.NewShared("", script.Send(jsonrpc.RequestLine(method, params))))
	}
	ask("ping", "ping", nil)
	check.EachList(s.b.Catalog, func(method string) { ask(method, method, nil) })
	for _, t := range s.b.Tools {
		s.add("call "+t.Name, true, script.NewShared("", script.Send(t.Call())))
		if !t.Full.Equal(t.Plain) {
			s.add("call "+t.Name+" in full", true, script.NewShared("", script.Send(t.CallWith(t.Full))))
		}
	}
	for i := range s.b.Session.Resources[:min(16, len(s.b.Session.Resources))] {
		uri := s.b.Session.Resources[i].URI
		ask("read "+uri, "resources/read", jsonrpc.Object("uri", uri))
	}
	for i := range s.b.Session.Templates {
		ask("read template", "resources/read", jsonrpc.Object("uri", session.ExpandTemplate(s.b.Session.Templates[i].URI, func(string) string { return "1" })))
	}
	for i := range s.b.Session.Prompts {
		p := &s.b.Session.Prompts[i]
		s.add("prompt "+p.Name, true, script.NewShared("", script.Send(check.PromptLine(p, s.b.Likely))))
	}
	s.mentioned(ask)
	session.EachCompletion(s.b.Session, func(name string, ref func() *mutate.JSON, argument string) {
		if s.b.Session.Has("completions") {
			s.add("complete "+name+" "+argument, true, script.NewShared("", script.Send(session.CompletionLine(ref(), argument, ""))))
		}
	})
	if subscribe := s.b.Session.Capabilities.Get("resources").Get("subscribe"); subscribe != nil && subscribe.Text == "true" && len(s.b.Session.Resources) > 0 {
		uri := s.b.Session.Resources[0].URI
		s.add("subscribe", true, script.NewShared("", script.Send(jsonrpc.RequestLine("resources/subscribe", jsonrpc.Object("uri", uri))),
			script.Send(jsonrpc.RequestLine("resources/unsubscribe", jsonrpc.Object("uri", uri)))))
	}
	if kinds := check.Kinds(s.b.Session); s.b.Session.Stateless && len(kinds) > 0 {
		s.add("listen", true, script.NewShared("", check.Listen(s.b.Session, kinds...)...))
	}
	if s.b.Session.Has("logging") {
		s.add("log level", true, script.NewShared("", script.Send(check.LevelLine(mutate.NewString("error")))))
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
			return s.b.Likely(other)
		}
	}
	for i := range s.b.Session.Templates {
		uri := s.b.Session.Templates[i].URI
		for _, name := range session.TemplateVariables(uri) {
			for _, value := range s.b.Observed[name][:min(session.MaxMentioned, len(s.b.Observed[name]))] {
				ask("read template "+value, "resources/read", jsonrpc.Object("uri", session.ExpandTemplate(uri, instead(name, value))))
			}
		}
	}
	for i := range s.b.Session.Prompts {
		p := &s.b.Session.Prompts[i]
		for _, a := range p.Arguments {
			for _, value := range s.b.Observed[a.Name][:min(session.MaxMentioned, len(s.b.Observed[a.Name]))] {
				s.add("prompt "+p.Name+" "+a.Name+" "+value, true, script.NewShared("", script.Send(check.PromptLine(p, instead(a.Name, value)))))
			}
		}
	}
}

// samples are calls of all tools in which every two values of arguments occur together; see [callable.samples]. The
// tools stand in turn.
func (s *seeds) samples(ctx context.Context) (all []Seed) {
	most := min(maxSamples, max(minSamples, allSamples/max(len(s.b.Tools), 1)))
	var calls [][]Seed
	for _, t := range s.b.Tools {
		if t.Slow || ctx.Err() != nil {
			continue
		}
		var of []Seed
		for n, v := range samplesOf(t, s.b.Observed, most) {
			of = append(of, Seed{Name: "call " + t.Name + " sample " + strconv.Itoa(n), Valid: true, Script: script.NewShared("", script.Send(t.CallWith(v)))})
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
	line := func(name, text string) {
		s.add(name, false, script.NewShared("", script.SendText(text), script.SendText(session.PingLine)))
	}
	line("empty params", `{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{}}`)
	line("null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`)
	line("string id", `{"jsonrpc":"2.0","id":"test-id","method":"ping"}`)
	line("negative id", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`)
	line("empty string id", `{"jsonrpc":"2.0","id":"","method":"ping"}`)
	line("unknown method", `{"jsonrpc":"2.0","id":"@id","method":"`+check.Controls[0]+`"}`)
	line("unknown notification", `{"jsonrpc":"2.0","method":"notifications/`+check.Controls[0]+`"}`)
	line("unknown tool", `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"`+check.Controls[0]+`","arguments":{}}}`)
	line("initialized again", session.InitializedLine)
	for _, text := range unasked {
		line("unasked", text)
	}
	for _, text := range mismatches {
		line("mismatch", text)
	}
	line("unknown resource", `{"jsonrpc":"2.0","id":"@id","method":"resources/read","params":{"uri":"`+check.Controls[0]+`://a"}}`)
	line("unknown prompt", `{"jsonrpc":"2.0","id":"@id","method":"prompts/get","params":{"name":"`+check.Controls[0]+`"}}`)
	for i := range s.b.Session.Prompts {
		p := &s.b.Session.Prompts[i]
		s.add("prompt without arguments "+p.Name, false, script.NewShared("", script.Send(jsonrpc.RequestLine("prompts/get", jsonrpc.Object("name", p.Name)))))
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

// existing adds the scripts about what the server had before the campaign.
func (s *seeds) existing() {
	left := maxExistingScripts
	for _, k := range findExisting(s.b.Tools, s.b.Session.Learned) {
		k.scripts(func(name string, in script.Script) {
			if left--; left >= 0 {
				s.add("existing "+name, false, in)
			}
		})
	}
}

// echoes adds calls in which one text stands in two places: what refers to itself is what graphs and transfers trip over.
func (s *seeds) echoes(ctx context.Context) {
	for _, t := range s.b.Tools {
		if t.Slow || ctx.Err() != nil {
			continue
		}
		for n, v := range correlatedArguments(t) {
			s.add("echo "+t.Name+" "+strconv.Itoa(n), false, script.NewShared("", script.Send(t.CallWith(v))))
		}
	}
}

// checks adds the scripts of all checks: cheap ones in order, expensive ones in turn with one another and with samples. The error
// is the context's.
func (s *seeds) checks(ctx context.Context, noGrowth bool) error {
	var expensive [][]Seed
	var largest []Seed // they take a server seconds each, and the others are not to wait for them
	for i := range check.All {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &check.All[i]
		if noGrowth && (check.MeasuresTime(c.Label) || c.Label == check.GrowthMemory || i == len(check.All)-1) { // the last are the largest
			continue
		}
		var made []Seed
		c.Make(s.b.Catalog, session.FixedRand(uint64(100+i)), func(name string, in script.Script) {
			made = append(made, Seed{Name: c.Label + " " + name, Script: in})
		})
		switch {
		case i == len(check.All)-1:
			largest = made
			continue
		case c.Expensive:
			expensive = append(expensive, made)
			continue
		}
		for _, m := range made {
			s.add(m.Name, false, m.Script)
		}
	}
	check.EachPlace(check.SomeTexts(s.b.Catalog, session.FixedRand(99), check.MaxAttacked), check.Trying("", check.Pollutions, func(name string, in script.Script) { s.add("pollution "+name, false, in) }))
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
