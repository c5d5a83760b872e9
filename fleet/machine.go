package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// Machine is what a machine of the fleet has said last: what it does, and its figures.
type Machine struct {
	Name       string              `json:"name"`
	Instance   string              `json:"instance"` // tells apart two processes of one name
	Host       string              `json:"host"`
	About      About               `json:"about"`
	State      State               `json:"state"`
	Ended      string              `json:"ended,omitempty"` // why its campaign has ended; "": it runs
	Every      time.Duration       `json:"every"`           // between two of its reports
	Elapsed    time.Duration       `json:"elapsed"`
	Executions uint64              `json:"executions"`
	Rate       float64             `json:"executions_per_second"` // of late
	Corpus     int                 `json:"corpus"`
	Features   int                 `json:"features"`
	Findings   int                 `json:"findings"`
	Workers    int                 `json:"workers"`
	Stages     []teasel.StageStats `json:"stages,omitempty"`
	Sent       int                 `json:"sent"`           // testcases that it was the first to share
	Taken      int                 `json:"taken"`          // testcases of others that it has run
	Waiting    int                 `json:"waiting"`        // testcases and findings that it has not sent yet
	Seen       map[string]uint64   `json:"seen,omitempty"` // how often findings have occurred there, by id; of the seenMost most frequent

	At   time.Time     `json:"at"`   // when the hub has heard it
	Age  time.Duration `json:"age"`  // since then, by the hub's clock
	Gone bool          `json:"gone"` // it has said nothing for so long that it must have been killed, or cut off
}

// silence is how long a machine says nothing before it is said to be gone; see [Machine.Every] too.
const silence = 30 * time.Second

// seenMost is of how many findings a machine says how often they have occurred.
const seenMost = 256

// plausible reports whether figures may be true. Others would spoil the sums of the fleet, and a budget would stop it.
func (m *Machine) plausible() bool {
	const most = 1 << 50 // executions; a million a second for thirty years
	for _, n := range m.Seen {
		if n >= most {
			return false
		}
	}
	return len(m.Seen) <= seenMost && m.Executions < most && m.Rate >= 0 && m.Rate < most && min(m.Corpus, m.Features, m.Findings, m.Workers, m.Sent, m.Taken, m.Waiting) >= 0
}

// Beat stores the figures of this machine.
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
		// An older teasel had them in memory: a hub that was started again has forgotten their stream.
		if e := (Layout{}).Make(ctx, l.js, l.config.Campaign); e != nil {
			return l.failed(e)
		}
	}
	return l.failed(err)
}

// Machines returns the latest figures of each machine, by name, or of one.
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
		if json.Unmarshal(raw.Data, &m) != nil || !m.plausible() {
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

// beat stores how this machine stands, and looks at the others.
func (b *Bridge) beat(ctx context.Context) error {
	host, _ := os.Hostname()
	b.mu.Lock()
	s := b.stats
	m := Machine{Name: b.link.config.Machine, Instance: b.name, Host: host, About: b.about, State: b.state, Ended: b.cause, Every: b.options.Every, Elapsed: s.Elapsed, Executions: s.Executions,
		Corpus: s.Corpus, Features: s.Features, Findings: s.Findings, Workers: s.Workers, Stages: s.Stages, Sent: b.sent, Taken: b.taken, Waiting: len(b.outbox) + len(b.finds), Seen: mostFrequent(b.seen)}
	b.mu.Unlock()
	if took := s.Elapsed - b.before.Elapsed; took > 0 && s.Executions >= b.before.Executions {
		m.Rate = float64(s.Executions-b.before.Executions) / took.Seconds()
	}
	if err := b.look(ctx); err != nil {
		return err
	}
	for i := range b.machines {
		if o := &b.machines[i]; !b.beaten.IsZero() && o.Name == m.Name && o.Instance != m.Instance && o.Ended == "" {
			b.say("name", "fleet: two machines have the name %s, the other one on %s: each hides the other's figures (give each credentials, or a --hub-machine, of its own)", m.Name, o.Host)
		}
	}
	b.before, b.beaten = s, time.Now()
	if err := b.link.Beat(ctx, &m); err != nil {
		return err
	}
	b.mu.Lock()
	b.heard = time.Now()
	b.mu.Unlock()
	return nil
}

// mostFrequent returns the counts of the findings that have occurred most.
func mostFrequent(seen map[string]uint64) map[string]uint64 {
	if len(seen) <= seenMost {
		return maps.Clone(seen)
	}
	ids := slices.SortedFunc(maps.Keys(seen), func(x, y string) int { return cmp.Or(-cmp.Compare(seen[x], seen[y]), cmp.Compare(x, y)) })
	some := map[string]uint64{}
	for _, id := range ids[:seenMost] {
		some[id] = seen[id]
	}
	return some
}

// Occurrences returns how often a finding has occurred on all machines, as far as they say so.
func Occurrences(ms []Machine, id string) (n uint64) {
	for i := range ms {
		n += ms[i].Seen[id]
	}
	return n
}

// machinesRead is of how many machines a machine reads the figures in a round, on average: with all of them, what a hub has to answer would grow
// with the square of the fleet.
const machinesRead = 50

// look reads the figures of all machines, unless it has done so of late.
func (b *Bridge) look(ctx context.Context) error {
	if n := time.Duration(len(b.machines)); n > machinesRead && time.Since(b.looked) < b.options.Every*n/machinesRead {
		return nil
	}
	ms, err := b.link.Machines(ctx, "")
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.machines, b.looked, b.heard = ms, time.Now(), time.Now()
	return nil
}

// turn reports whether this machine does what one of the fleet has to do: of all that ask in the same round, about one.
func (b *Bridge) turn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	live := 0
	for i := range b.machines {
		if m := &b.machines[i]; !m.Gone && m.Ended == "" {
			live++
		}
	}
	return b.random.IntN(max(live, 1)) == 0
}

// Panels returns a table of the machines of the fleet as they were at the last exchange. It does not wait for the hub.
func (b *Bridge) Panels() []view.Panel {
	b.mu.Lock()
	machines, since, looked := slices.Clone(b.machines), time.Since(b.heard), time.Since(b.looked)
	b.mu.Unlock()
	if len(machines) == 0 {
		return nil
	}
	for i := range machines {
		machines[i].Age += looked
	}
	p := Panel(machines)
	if since > max(silence, 4*b.options.Every) { // that the others are gone cannot be said then
		p.Title = fmt.Sprintf("Machines %v ago: since then the hub was not reached", since.Round(time.Second))
	}
	return []view.Panel{p}
}

// Panel returns the table of a fleet's machines: what each does, when the hub heard it last, and its share of what the fleet has found.
func Panel(ms []Machine) view.Panel {
	p := view.Panel{Title: "Machines", Head: []string{"machine", "state", "last heard", "executions", "per second", "corpus", "features", "findings", "sent", "share", "taken", "unsent"}}
	all := 0
	for _, m := range ms {
		all += m.Sent
	}
	for _, m := range ms {
		state := map[State]string{Running: "running", Paused: "paused", Stopped: "stopping"}[m.State]
		switch {
		case m.Gone:
			state = "gone"
		case m.Ended != "":
			state = "ended: " + plain.Line(m.Ended)
		}
		share := "-"
		if all > 0 {
			share = fmt.Sprintf("%.0f%%", 100*float64(m.Sent)/float64(all))
		}
		p.Rows = append(p.Rows, []string{plain.Line(m.Name), state, m.Age.Round(time.Second).String() + " ago", strconv.FormatUint(m.Executions, 10), fmt.Sprintf("%.0f", m.Rate),
			strconv.Itoa(m.Corpus), strconv.Itoa(m.Features), strconv.Itoa(m.Findings), strconv.Itoa(m.Sent), share, strconv.Itoa(m.Taken), strconv.Itoa(m.Waiting)})
	}
	return p
}
