package server

import (
	"context"
	"errors"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Bounds of what is read of a server's lists.
const (
	maxPages = 1000
	maxItems = 100_000
)

// Visit is a server that is looked at before a campaign begins.
type Visit struct {
	Session *session.Session

	command *Command
	server  *Server
}

// Visit starts the server and asks what there is. When the server cannot be used at all the error is a [*StartError]; what
// is wrong with a list is in the session's Trouble. The caller closes the visit.
func (c *Command) Visit(ctx context.Context) (*Visit, error) {
	s, err := c.Start()
	if err != nil {
		return nil, err
	}
	v := &Visit{command: c, server: s}
	if v.Session, err = c.Discover(ctx, s); err == nil {
		if direct := c.behind(s); direct != nil {
			err = c.shortcut(ctx, v.Session, direct)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return v, nil
}

// Close asks the server to end and waits for that, but not for long.
func (v *Visit) Close() {
	v.server.Stop()
}

// Discover initializes the session of a server to which nothing was sent, and asks what there is. Its errors are those of
// [Command.Visit].
func (c *Command) Discover(ctx context.Context, s *Server) (*session.Session, error) {
	answer, err := c.Initialize(ctx, s)
	if err != nil {
		return nil, err
	}
	sess := &session.Session{Asked: c.version(), HTTP: s.OverHTTP(), Stateless: c.Stateless, Initialize: answer.Result, Pages: map[string]int{}, Completions: map[string][]string{}}
	sess.Events = s.reached.Events
	sess.Undiscovered, sess.Ping = s.undiscovered, string(s.ping)
	sess.HasID = s.http != nil && s.http.Session() != ""
	sess.ReadInitialize()
	d := discovery{command: c, server: s, session: sess}
	for _, l := range lists {
		if !sess.Has(l.capability) {
			continue
		}
		d.method, d.key, d.take = l.method, l.key, l.take
		if err := d.list(ctx); err != nil {
			return nil, err
		}
	}
	s.Mirrors = sess.Mirrors
	sess.WeighAnnotations()
	return sess, d.complete(ctx)
}

// lists are those that a server may have.
var lists = []struct {
	method, capability, key string
	take                    func(*session.Session, *mutate.JSON) string // adds an item, and returns what is wrong with it
}{
	{"tools/list", "tools", "tools", (*session.Session).AddTool},
	{"resources/list", "resources", "resources", (*session.Session).AddResource},
	{"resources/templates/list", "resources", "resourceTemplates", (*session.Session).AddTemplate},
	{"prompts/list", "prompts", "prompts", (*session.Session).AddPrompt},
}

// discovery reads the lists of a server, page by page.
type discovery struct {
	command     *Command
	server      *Server
	session     *session.Session
	method, key string
	take        func(*session.Session, *mutate.JSON) string // returns what is wrong with the item
}

// list reads all pages of one list. Only an error of the context or of the process is returned.
func (d *discovery) list(ctx context.Context) error {
	cursor, items := (*mutate.JSON)(nil), 0
	seen := map[string]bool{}
	for range maxPages {
		answer, err := d.page(ctx, cursor)
		if err != nil {
			return err
		}
		if answer == nil {
			return nil
		}
		list := answer.Result.Get(d.key)
		if list == nil || list.Kind != mutate.Array {
			d.session.AddTrouble("%s: the result has no array %q", d.method, d.key)
			return nil
		}
		for i, item := range list.Items {
			if why := d.take(d.session, item); why != "" {
				d.session.AddTrouble("%s: item %d: %s", d.method, items+i, why)
			}
		}
		items += len(list.Items)
		d.session.Pages[d.method]++
		if cursor = answer.Result.Get("nextCursor"); cursor == nil || cursor.Kind == mutate.Null {
			return nil
		}
		text := cursor.String()
		if seen[text] {
			d.session.AddTrouble("%s: the cursor %s comes again", d.method, shorten(text))
			return nil
		}
		if seen[text] = true; items > maxItems {
			break
		}
	}
	d.session.AddTrouble("%s: the list does not end; %d items were read", d.method, items)
	return nil
}

// page asks for one page; nil: there is none to be had.
func (d *discovery) page(ctx context.Context, cursor *mutate.JSON) (*jsonrpc.Message, error) {
	var params *mutate.JSON
	if cursor != nil {
		params = mutate.NewObject(jsonrpc.Member("cursor", cursor))
	}
	patience := 2 * d.command.timeout() // a list may be read from somewhere else
	answer, noise, err := d.server.call(ctx, jsonrpc.RequestLine(d.method, params), patience)
	switch {
	case errors.Is(err, errSilent):
		d.session.AddTrouble("%s: no answer within %v", d.method, patience)
		return nil, nil
	case err != nil:
		return nil, d.command.trouble(d.server, err, noise, d.method)
	case answer.Error != nil:
		d.session.AddTrouble("%s: refused: %s", d.method, shorten(answer.Error.String()))
		return nil, nil
	}
	return &answer, nil
}

// Bounds of what is asked to be completed before a campaign, and of how long the server may think about it.
const (
	maxAskedFor     = 64
	completionLimit = time.Second
)

// complete asks what the server offers for arguments of prompts and variables of templates. What is wrong with the
// answers is the campaign's business; a server that does not answer is not asked again.
func (d *discovery) complete(ctx context.Context) error {
	if !d.session.Has("completions") {
		return nil
	}
	asked, silent := 0, false
	session.EachCompletion(d.session, func(_ string, ref func() *mutate.JSON, name string) {
		if asked++; silent || asked > maxAskedFor {
			return
		}
		answer, _, err := d.server.call(ctx, session.CompletionLine(ref(), name, ""), min(d.command.timeout(), completionLimit))
		if silent = err != nil; silent {
			return
		}
		values := answer.Result.Get("completion").Get("values")
		if values == nil {
			return
		}
		for _, v := range values.Items {
			if text, ok := v.Str(); ok {
				d.session.Completions[name] = append(d.session.Completions[name], text)
			}
		}
	})
	return ctx.Err()
}
