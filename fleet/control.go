package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// About is what a campaign is about. The first machine says it; the others compare.
type About struct {
	Kind    string `json:"kind"`
	Target  string `json:"target"`          // in one line, for people
	Build   string `json:"build,omitempty"` // of the target; "": unknown
	Version string `json:"version"`         // of teasel
}

// build names what gives features their meaning.
func (a *About) build() string { return a.Version + " " + cmp.Or(a.Build, a.Target) }

// State says what the machines of a fleet are to do, or what one does.
type State string

// The states. The zero value is that nobody has given an order.
const (
	Running State = "run"
	Paused  State = "pause"
	Stopped State = "stop"
)

// Order is what the machines of a campaign are to do. The zero value is to run.
type Order struct {
	State State     `json:"state"`
	Runs  uint64    `json:"runs,omitempty"` // executions of all machines together after which to stop; 0: no limit
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"` // by the hub's clock
}

// Meet compares what this machine's campaign is about with what the fleet's is, and has it be that if nobody has said it. A kind of its own is an
// error; another build is not, but both reports it.
func (l *Link) Meet(ctx context.Context, mine About) (theirs About, err error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return theirs, err
	}
	for {
		known := false
		err := l.last(ctx, controlStream, "about", func(m *jetstream.RawStreamMsg) { known = json.Unmarshal(m.Data, &theirs) == nil })
		if err != nil {
			return theirs, err
		}
		if known {
			break
		}
		if stored, err := l.publish(ctx, l.subject(controlStream, "about"), text, 0); stored || err != nil {
			return mine, err
		}
		if ctx.Err() != nil {
			return theirs, l.failed(ctx.Err())
		}
	}
	if theirs.Kind != mine.Kind {
		return theirs, &Problem{ProblemCampaign, fmt.Sprintf("campaign %s on the hub at %s is of kind %s, on %s; this one is of kind %s", l.config.Campaign, l.config.URL, theirs.Kind, theirs.Target, mine.Kind),
			"give this one another name: --hub-name NAME", nil}
	}
	return theirs, nil
}

// Order returns what the machines are to do.
func (l *Link) Order(ctx context.Context) (o Order, err error) {
	err = l.last(ctx, controlStream, "order", func(m *jetstream.RawStreamMsg) {
		if json.Unmarshal(m.Data, &o) == nil {
			o.At = m.Time
		}
	})
	return o, err
}

// MayBegin returns a [Problem] if the fleet was told to stop.
func (l *Link) MayBegin(ctx context.Context) error {
	o, err := l.Order(ctx)
	if err == nil && o.State == Stopped {
		err = &Problem{ProblemStopped, fmt.Sprintf("campaign %s on the hub at %s was told to stop, by %s", l.config.Campaign, l.config.URL, o.By),
			"'teasel fleet " + l.config.URL + " resume --hub-name " + l.config.Campaign + "' lets machines run again; --hub-name NAME begins another campaign", nil}
	}
	return err
}

// Give gives an order, and wakes the machines.
func (l *Link) Give(ctx context.Context, o Order) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	o.By, o.At = l.config.Machine, time.Now()
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err = l.js.Publish(ctx, l.subject(controlStream, "order"), text); err == nil {
		err = l.nc.Publish(wakeSubject(l.config.Campaign), nil)
	}
	if err == nil {
		err = l.nc.FlushWithContext(ctx)
	}
	if err = l.failed(err); err != nil {
		if p, ok := errors.AsType[*Problem](err); ok && p.Kind == ProblemRights {
			p.Hint = "orders need the credentials of an operator: --hub-creds FILE, " + l.config.Campaign + "-operator.creds of 'teasel-hub init'"
		}
	}
	return err
}

// About returns what a campaign is about; ok is false if no machine has said it.
func (l *Link) About(ctx context.Context) (a About, ok bool, err error) {
	err = l.last(ctx, controlStream, "about", func(m *jetstream.RawStreamMsg) { ok = json.Unmarshal(m.Data, &a) == nil })
	return a, ok, err
}

// Campaigns returns the names of the campaigns on the hub, sorted. It needs the right to list streams.
func (l *Link) Campaigns(ctx context.Context) (names []string, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	list := l.js.StreamNames(ctx)
	for name := range list.Name() {
		if rest, ok := strings.CutSuffix(strings.TrimPrefix(name, streamPrefix), "_"+controlStream); ok && strings.HasPrefix(name, streamPrefix) {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names, l.failed(list.Err())
}
