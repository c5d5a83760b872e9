package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel"
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

// Machine is the last word of a machine.
type Machine struct {
	Name       string              `json:"name"`
	Instance   string              `json:"instance"` // tells apart two processes of one name
	Host       string              `json:"host"`
	About      About               `json:"about"`
	State      State               `json:"state"`
	Ended      string              `json:"ended,omitempty"` // why its campaign has ended; "": it runs
	Every      time.Duration       `json:"every"`           // between two words of it
	Elapsed    time.Duration       `json:"elapsed"`
	Executions uint64              `json:"executions"`
	Rate       float64             `json:"executions_per_second"` // of late
	Corpus     int                 `json:"corpus"`
	Features   int                 `json:"features"`
	Findings   int                 `json:"findings"`
	Workers    int                 `json:"workers"`
	Stages     []teasel.StageStats `json:"stages,omitempty"`
	Sent       int                 `json:"sent"`    // testcases that it was the first to share
	Taken      int                 `json:"taken"`   // testcases of others that it has run
	Waiting    int                 `json:"waiting"` // testcases and findings that it has not sent yet

	At   time.Time     `json:"at"`   // when the hub has heard it
	Age  time.Duration `json:"age"`  // since then, by the hub's clock
	Gone bool          `json:"gone"` // it has said nothing for so long that it must have been killed, or cut off
}

// silence is how long a machine says nothing before it is said to be gone; see [Machine.Every] too.
const silence = 30 * time.Second

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

// Beat stores the last word of this machine.
func (l *Link) Beat(ctx context.Context, m *Machine) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for range 2 {
		_, err = l.js.Publish(ctx, l.subject(figuresStream, l.config.Machine), text, jetstream.WithRetryAttempts(0))
		if !errors.Is(err, jetstream.ErrNoStreamResponse) {
			break
		}
		// The figures are in memory: a hub that was started again has forgotten their stream.
		if e := (Layout{}).Make(ctx, l.js, l.config.Campaign); e != nil {
			return l.failed(e)
		}
	}
	return l.failed(err)
}

// Machines returns the last word of each machine, by name, or of one.
func (l *Link) Machines(ctx context.Context, name string) (ms []Machine, err error) {
	info, cancel := l.limit(ctx)
	defer cancel()
	s, err := l.js.Stream(info, l.stream(figuresStream))
	if errors.Is(err, jetstream.ErrStreamNotFound) { // until a machine has said something
		return nil, nil
	}
	if err != nil {
		return nil, l.failed(err)
	}
	now := s.CachedInfo().TimeStamp
	at, n, byName := uint64(0), 0, map[string]Machine{} // one that speaks meanwhile is read again
	take := func(raw *jetstream.RawStreamMsg) {
		at, n = raw.Sequence, n+1
		m := Machine{}
		if json.Unmarshal(raw.Data, &m) != nil {
			return
		}
		m.Name, m.At, m.Age = lastToken(raw.Subject), raw.Time, max(now.Sub(raw.Time), 0)
		m.Gone = m.Ended == "" && m.Age > max(silence, 4*m.Every)
		byName[m.Name] = m
	}
	if name != "" {
		err = l.last(ctx, figuresStream, name, take)
	}
	for more := name == ""; more && err == nil; more = n > 0 { // piece by piece: a server refuses to answer with more than 1,024 last messages
		n = 0
		err = l.read(ctx, figuresStream, at, pullMost, take)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		ms = append(ms, byName[name])
	}
	return ms, err
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
	return l.failed(err)
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
