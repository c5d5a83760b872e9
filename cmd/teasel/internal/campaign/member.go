package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Member is a campaign's part in a fleet. That of a campaign without --hub is nil.
type Member struct {
	link   *fleet.Link
	bridge *fleet.Bridge
	stderr io.Writer
	dir    string
}

// JoinFleet connects to the hub that the options name, before anything is begun. suffix is added to the name of the campaign: a run of several
// campaigns has one for each.
func JoinFleet(ctx context.Context, o *flags.Options, m *corpus.Meta, dir, suffix string, stderr io.Writer) (*Member, error) {
	if o.Hub.URL == "" {
		return nil, nil
	}
	hub := o.Hub
	if suffix != "" && hub.Campaign != "" {
		hub.Campaign += "-" + hubName(suffix)
	}
	c, err := hub.Config(hubName(m.Kind+" "+m.Name), machineName(dir))
	if err != nil {
		return nil, err
	}
	if c.URL == o.Hub.URL && fleet.Redact(c.URL) != c.URL {
		fmt.Fprintln(stderr, "teasel: warning: --hub has a password or a token, which is kept in the campaign's directory: write ${NAME} for it, and set the environment variable NAME")
	}
	link, err := fleet.Dial(c)
	if link == nil {
		return nil, HubError(err)
	}
	fmt.Fprintf(stderr, "teasel: part of campaign %s on the hub at %s, as machine %s\n", c.Campaign, fleet.Redact(o.Hub.URL), c.Machine)
	if err != nil {
		fmt.Fprintf(stderr, "teasel: warning: %v; this machine begins alone, and sends what it finds when the hub is there\n", err)
		return &Member{link: link, stderr: stderr, dir: dir}, nil
	}
	begins := m.Kind == "go" || !corpus.IsCampaign(dir) // one that goes on has something to send
	if err := checkFleet(ctx, link, m, begins); err != nil {
		link.Close()
		return nil, err
	}
	return &Member{link: link, stderr: stderr, dir: dir}, nil
}

// checkFleet checks that the hub has the campaign, that it is of this kind and, for one that begins, that it was not told to stop.
func checkFleet(ctx context.Context, link *fleet.Link, m *corpus.Meta, begins bool) error {
	_, err := link.Streams(ctx)
	if err == nil {
		_, err = link.Meet(ctx, fleet.AboutOf(m, ""))
	}
	if err == nil && begins {
		err = link.MayBegin(ctx)
	}
	if p, ok := errors.AsType[*fleet.Problem](err); ok && p.Fatal() {
		return HubError(err)
	}
	return nil // it may be away for a moment: the bridge tries again
}

// HubError returns an error of a hub with its hint. Where the hub cannot be reached, it is like a target that is not there.
func HubError(err error) error {
	p, ok := errors.AsType[*fleet.Problem](err)
	switch {
	case !ok:
		return exit.Usage("for example --hub nats://127.0.0.1:4222", "--hub: %w", err)
	case p.Fatal():
		return exit.Usage(p.Hint, "%w", err)
	}
	return &exit.Error{Status: exit.StatusTarget, Err: err, Hint: p.Hint}
}

// hubName returns a text as the name of a campaign: of paths, the last parts.
func hubName(text string) string {
	var words []string
	for _, w := range strings.Fields(text) {
		words = append(words, strings.Map(func(r rune) rune {
			if strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r) {
				return r
			}
			return '_'
		}, strings.TrimLeft(filepath.Base(w), "-")))
	}
	name := strings.Trim(strings.Join(words, "-"), "-_")
	if len(name) > 64 {
		sum := sha256.Sum256([]byte(text))
		name = name[:55] + "-" + hex.EncodeToString(sum[:4])
	}
	return name
}

// machineName returns a name for what fuzzes in a directory on this host.
func machineName(dir string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "machine"
	}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	sum := sha256.Sum256([]byte(dir))
	host = hubName(host)
	return host[:min(len(host), 50)] + "-" + hex.EncodeToString(sum[:2])
}

// Join returns the bridge of the campaign in a directory, which is a reporter and a source, and begins to talk to the hub.
func (m *Member) Join(o *flags.Options, dir *corpus.Dir, from fleet.Options) (*fleet.Bridge, error) {
	from.Dir, from.Meta, from.Hold, from.Every = dir.Path(), dir.Meta(), o.Hub.Hold, o.Hub.Every
	var err error
	if m.bridge, err = fleet.NewBridge(m.link, from); err != nil {
		return nil, exit.Failure(err)
	}
	m.bridge.Start()
	return m.bridge, nil
}

// Leave says on the hub why the campaign has ended, and closes the connection.
func (m *Member) Leave(stopped string) {
	if m == nil {
		return
	}
	if m.bridge != nil {
		entries, findings, err := m.bridge.Close(stopped)
		m.bridge = nil
		if err != nil {
			fmt.Fprintf(m.stderr, "teasel: %v\n", err)
		}
		if entries+findings > 0 {
			fmt.Fprintf(m.stderr, "teasel: warning: the hub has not acknowledged %s and %s of this machine, which are in %s\nhint: 'teasel resume %s' sends them when the hub is there\n",
				noun.Count(entries, "testcase", "testcases"), noun.Count(findings, "finding", "findings"), m.dir, plain.Quote(m.dir))
		}
	}
	m.link.Close()
}

// sources is a source that supplies what several sources have, in order.
type sources []teasel.Source

// Pull implements [teasel.Source].
func (ss sources) Pull(ctx context.Context) (all teasel.Supply, err error) {
	for _, s := range ss {
		one, err := s.Pull(ctx)
		if err != nil {
			return all, err
		}
		all.Inputs, all.Errands, all.Unstable = append(all.Inputs, one.Inputs...), append(all.Errands, one.Errands...), append(all.Unstable, one.Unstable...)
	}
	return all, nil
}
