package fleet

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Options say what a [Bridge] carries.
type Options struct {
	Dir      string           // the campaign's directory
	Meta     corpus.Meta      // of the campaign
	Build    string           // of the target, if Meta does not have it; "": unknown
	Hold     time.Duration    // how long a testcase must have been kept before it is sent; 0: 60 s
	Every    time.Duration    // between two exchanges with the hub, on average; 0: 10 s
	Existing *teasel.Snapshot // what the campaign has already; nil: nothing

	Notes teasel.Reporter    // gets notes to the user, when the bridge gets an event; nil: nobody
	Pause func(paused bool)  // called when the fleet is to pause, or to go on; nil: it cannot
	Stop  func(cause string) // called when the fleet is to stop; nil: it cannot
}

// Bridge carries a campaign's testcases, findings and figures to a hub, and brings testcases of others. It is a reporter and a source of the
// campaign, which has to take errands. What the campaign calls only touches memory; the goroutine of Start has all the traffic.
type Bridge struct {
	link    *Link
	options Options
	about   About
	name    string // this process, among those of one machine name
	random  *rand.Rand
	found   chan struct{}
	ended   chan struct{} // closed by Close
	done    chan struct{} // closed when the goroutine is gone

	mu sync.Mutex
	holdings
	outgoing
	incoming
	errands  errands
	unstable unstable
	notes    []string
	machines []Machine
	looked   time.Time // when machines were read
	heard    time.Time // when the hub has answered last

	carrier // of the goroutine alone
}

// holdings is what this machine has. The lock of the [Bridge] is held.
type holdings struct {
	kept  map[string]teasel.Entry       // testcases, by key
	known map[string]corpus.FindingFile // findings, by id
	tried map[string]corpus.FindingFile // findings that it could not reproduce, by id
	seen  map[string]uint64             // how often findings have occurred, by id
	here  map[teasel.Feature]struct{}   // what its testcases reach
	stats teasel.Stats
	cause string // why the campaign has ended
}

// outgoing is what there is to send. The lock of the [Bridge] is held.
type outgoing struct {
	outbox map[string]held
	finds  map[string]corpus.FindingFile // by id
	sent   int                           // testcases
}

// carrier is what the goroutine that talks to the hub knows, and nobody else.
type carrier struct {
	acks    *acknowledged
	fleet   map[teasel.Feature]struct{} // what the testcases on the hub reach, as far as they are of this build
	findAt  uint64                      // sequence number of the last finding that was read
	streams Streams                     // as they were when they were looked at last

	joined    bool   // what the cover names was read
	covered   uint64 // sequence number through which the cover stands for the stream, as far as this machine knows
	coverSize int    // testcases that it names
	coverless bool   // this machine cannot store one

	trouble ProblemKind     // that was noted last; ProblemInvalid: all is well
	told    map[string]bool // notes that are given once
	builds  map[string]bool // others that were named

	met    bool // the hub was checked since it was last out of reach
	state  State
	beaten time.Time    // when the figures were sent
	before teasel.Stats // at that time
}

type held struct {
	entry teasel.Entry
	since time.Time
}

var (
	_ teasel.Reporter = (*Bridge)(nil)
	_ teasel.Source   = (*Bridge)(nil)
)

const (
	defaultHold  = 60 * time.Second
	defaultEvery = 10 * time.Second
	farewellTime = 5 * time.Second // that the campaign waits for what it sends at its end to arrive
	pullMost     = 500             // messages of one request
	giveMost     = 256             // testcases that one call of Pull returns
	clockLimit   = 2 * time.Minute
	buildsNamed  = 8 // that notes name: a machine may claim any
)

// NewBridge returns a bridge between a campaign and a link, which it does not own. The directory must be locked by the caller.
func NewBridge(l *Link, o Options) (*Bridge, error) {
	if o.Hold == 0 {
		o.Hold = defaultHold
	}
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	acks, err := openAcknowledged(o.Dir, l.config.Campaign)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	name := fmt.Sprintf("%s %d %d", host, os.Getpid(), time.Now().UnixNano())
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	b := &Bridge{link: l, options: o, about: AboutOf(&o.Meta, o.Build), name: name, random: rand.New(rand.NewPCG(h.Sum64(), 0)),
		found: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{}),
		holdings: holdings{kept: map[string]teasel.Entry{}, known: map[string]corpus.FindingFile{}, tried: map[string]corpus.FindingFile{},
			seen: map[string]uint64{}, here: map[teasel.Feature]struct{}{}},
		outgoing: outgoing{outbox: map[string]held{}, finds: map[string]corpus.FindingFile{}, sent: acks.sent},
		carrier:  carrier{acks: acks, fleet: map[teasel.Feature]struct{}{}, told: map[string]bool{}, builds: map[string]bool{}, state: Running},
		unstable: unstable{onHub: map[teasel.Feature]bool{}}, errands: newErrands()}
	if s := o.Existing; s != nil {
		for _, e := range s.Entries {
			if e.Runs > 0 {
				b.added(e)
			}
		}
		for _, f := range slices.Concat(s.Findings, s.Untried) {
			b.finding(f)
		}
		b.unstable.here(s.Unstable)
		b.stats.Executions, b.stats.Elapsed = s.Executions, s.Elapsed
	}
	return b, nil
}

// AboutOf returns what a campaign is about. build is that of its target, if m does not have it.
func AboutOf(m *corpus.Meta, build string) About {
	if m.Build != "" {
		build = m.Build
	}
	return About{Kind: m.Kind, Target: m.Name, Build: build, Version: m.Version}
}

// Report implements [teasel.Reporter]. It never waits.
func (b *Bridge) Report(e teasel.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Kind {
	case teasel.EventAdded:
		b.added(e.Entry)
	case teasel.EventEvicted: // before it was sent, nobody else needs it
		delete(b.outbox, e.Entry.Key)
		delete(b.kept, e.Entry.Key)
	case teasel.EventFound:
		b.finding(e.Finding)
	case teasel.EventUnconfirmed:
		if e.Finding.Tries == 0 { // another machine may have the time
			b.finding(e.Finding)
		} else {
			b.notReproduced(e.Finding)
		}
	case teasel.EventProgress:
		b.stats = e.Stats
		for _, s := range e.Sightings {
			b.seen[s.ID] = s.Times
		}
		b.unstable.here(e.Unstable)
	}
	if b.options.Notes != nil {
		for _, text := range b.notes {
			if err := b.options.Notes.Report(teasel.Event{Kind: teasel.EventNote, Text: text}); err != nil {
				return err
			}
		}
		b.notes = nil
	}
	return nil
}

func (b *Bridge) added(e teasel.Entry) {
	b.kept[e.Key], b.outbox[e.Key] = e, held{e, time.Now()}
	for f := range e.Features.All() {
		b.here[f] = struct{}{}
	}
}

func (b *Bridge) finding(f teasel.Finding) {
	b.seen[f.ID()] = max(b.seen[f.ID()], f.Occurrences)
	b.known[f.ID()] = b.file(f)
	b.queue(b.known[f.ID()])
}

func (b *Bridge) file(f teasel.Finding) corpus.FindingFile {
	return corpus.FindingFile{Kind: b.options.Meta.Kind, Target: b.options.Meta.Target, Directory: b.options.Meta.Directory, Seed: b.options.Meta.Seed, Finding: f}
}

// queue has a finding sent at once.
func (b *Bridge) queue(f corpus.FindingFile) {
	b.finds[f.Finding.ID()] = f
	select {
	case b.found <- struct{}{}:
	default:
	}
}

// Start begins to talk to the hub, until Close.
func (b *Bridge) Start() { go b.run() }

// Close says why the campaign has ended, sends what is left if that takes no more than a few seconds, and waits for the goroutine of Start. It
// returns how many testcases and findings the hub has not acknowledged.
func (b *Bridge) Close(cause string) (entries, findings int, err error) {
	b.mu.Lock()
	b.cause = cause
	b.mu.Unlock()
	close(b.ended)
	<-b.done
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.outbox), len(b.finds), b.acks.file.Close()
}

func (b *Bridge) run() {
	defer close(b.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // what waits for the hub must not hold up the end
		select {
		case <-b.ended:
			time.AfterFunc(farewellTime, cancel)
		case <-ctx.Done():
		}
	}()
	for {
		b.round(ctx, false)
		next := time.NewTimer(b.options.Every/2 + time.Duration(b.random.Int64N(int64(b.options.Every))))
	wait:
		for {
			select {
			case <-b.ended:
				next.Stop()
				b.round(ctx, true)
				return
			case <-b.found:
				if err := b.sendFindings(ctx); err != nil { // only a whole round says that all is well
					b.note(err)
				}
			case <-b.link.Wake():
				break wait
			case <-next.C:
				break wait
			}
		}
		next.Stop()
	}
}

// round exchanges everything once: findings first, and others' testcases before our own, so that what another machine has sent already is not
// sent again. The last round holds nothing back.
func (b *Bridge) round(ctx context.Context, last bool) {
	push := func(ctx context.Context) error { return b.push(ctx, last) }
	steps := []func(context.Context) error{b.check, b.sendFindings, b.obey, b.join, b.pull, b.pullFindings, b.warn, push}
	if !last {
		steps = append(steps, b.volunteer, b.renew)
	}
	var trouble error
	for _, step := range append(steps, b.beat) {
		err := step(ctx)
		if err == nil {
			continue
		}
		if trouble = err; explain("", err).Kind != ProblemFull { // a hub that has no room for testcases or findings has orders, and may have room for figures
			break
		}
	}
	b.note(trouble)
}

// check looks whether the streams are those that the list of what was sent is about.
func (b *Bridge) check(ctx context.Context) error {
	s, err := b.link.Streams(ctx)
	if err != nil {
		b.met = false
		return err
	}
	if off := time.Since(s.Now); off.Abs() > clockLimit {
		b.say("clock", "fleet: the clock of this machine is %v off that of the hub: times in its reports are, too", off.Round(time.Second))
	}
	b.streams = s
	b.mu.Lock()
	restart := !b.acks.at.Birth.Equal(s.Birth) || b.read > s.Last || b.acks.at.Cursor > s.Last
	if restart { // a cursor beyond the end would bring nothing, without an error
		b.read, b.given, b.ran, b.findAt, b.inbox, b.joined, b.sent = 0, 0, 0, 0, nil, false, 0
		clear(b.fleet)
		clear(b.errands.wanted)
		b.unstable.forget()
		b.resend()
	}
	cursor := max(b.ran, b.acks.at.Cursor)
	b.mu.Unlock()
	if restart {
		return b.acks.forget(s.Birth)
	}
	if cursor > b.acks.at.Cursor {
		b.acks.at.Cursor = cursor
		if err := b.acks.store(); err != nil {
			return err
		}
	}
	if b.met {
		return nil
	}
	theirs, err := b.link.Meet(ctx, b.about)
	if err == nil {
		b.met = true
		b.otherBuild(theirs.build(), "who began the campaign")
	}
	return err
}

// obey does what the fleet is to do.
func (b *Bridge) obey(ctx context.Context) error {
	o, err := b.link.Order(ctx)
	if err != nil {
		return err
	}
	if o.State != Stopped && o.Runs > 0 {
		if err := b.look(ctx); err != nil {
			return err
		}
		var all uint64
		for i := range b.machines {
			all += b.machines[i].Executions
		}
		if all >= o.Runs {
			o.State = Stopped
		}
	}
	if o.State == "" {
		o.State = Running
	}
	if o.State == b.state {
		return nil
	}
	switch {
	case o.State == Stopped && b.options.Stop != nil:
		b.options.Stop("fleet")
	case b.options.Pause != nil:
		b.options.Pause(o.State == Paused)
		b.say("", "fleet: %s", map[State]string{Paused: "the campaign pauses, as " + o.By + " has said", Running: "the campaign goes on, as " + o.By + " has said"}[o.State])
	}
	b.state = o.State
	return nil
}
