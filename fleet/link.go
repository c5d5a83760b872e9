package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"
)

// Config says where a hub is, and who we are there.
type Config struct {
	URL         string // nats://HOST:4222 or tls://HOST:4222; several of a cluster are separated by commas
	Credentials Credentials
	CA          string // file with the authorities that may have signed the hub's certificate; "": those of the system
	Campaign    string // a name of letters, digits, _ and -
	Machine     string // the same
}

// CheckName refuses what cannot be the name of a campaign or of a machine on a hub.
func CheckName(name string) error {
	if name == "" || len(name) > 64 || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return fmt.Errorf("name %.80q: expected 1 to 64 letters, digits, _ and -", name)
	}
	return nil
}

// Link is a machine's way to a hub. Its methods may be called concurrently. None waits longer for an answer than a few seconds.
type Link struct {
	config Config
	nc     *nats.Conn
	js     jetstream.JetStream
	wake   chan struct{}

	mu       sync.Mutex
	denied   error // the last refusal, which NATS reports beside the request that gets no answer
	requests map[int]context.CancelFunc
	number   int // of the last request
}

const (
	tryFor      = 3 * time.Second // that a connection may take
	requestTime = 5 * time.Second // that a request may take
)

// Dial connects to a hub. If nothing answers, it returns a link that connects when it does, and a [Problem] of kind ProblemAway; with any
// other error there is no link.
func Dial(c Config) (*Link, error) {
	for _, name := range []string{c.Campaign, c.Machine} {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	if err := checkAddress(c.URL); err != nil {
		return nil, err
	}
	address := c.URL
	c.URL = Redact(c.URL) // from here on it is for messages
	l := &Link{config: c, wake: make(chan struct{}, 1), requests: map[int]context.CancelFunc{}}
	options, err := l.options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(address, append(options, nats.NoReconnect())...)
	var away *Problem
	if err != nil {
		if away = explain(c.URL, err); away.Kind != ProblemAway {
			return nil, away
		}
	} else {
		nc.Close()
	}
	if l.nc, err = nats.Connect(address, append(options, nats.RetryOnFailedConnect(true))...); err != nil {
		return nil, explain(c.URL, err)
	}
	if l.js, err = jetstream.New(l.nc); err == nil {
		_, err = l.nc.Subscribe(wakeSubject(c.Campaign), func(*nats.Msg) { l.rouse() })
	}
	if err != nil {
		l.nc.Close()
		return nil, explain(c.URL, err)
	}
	if away != nil {
		return l, away
	}
	return l, nil
}

func (l *Link) options() ([]nats.Option, error) {
	// A request that cannot be sent now fails now: what is to be sent is on disk, and not in a buffer.
	options := []nats.Option{nats.Name("teasel " + l.config.Machine), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second), nats.ReconnectBufSize(-1), nats.Timeout(tryFor), nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2), nats.CustomInboxPrefix(inboxPrefix(l.config.Campaign, l.config.Machine)), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.deny(err) }),
		nats.ReconnectHandler(func(*nats.Conn) { l.rouse() })}
	if l.config.CA != "" {
		options = append(options, nats.RootCAs(l.config.CA))
	}
	user, err := l.config.Credentials.option()
	if err != nil {
		return nil, err
	}
	if user != nil {
		options = append(options, user)
	}
	return options, nil
}

// Close ends the connection.
func (l *Link) Close() { l.nc.Close() }

// Wake is written to when there may be news: an order was given, or the hub is back.
func (l *Link) Wake() <-chan struct{} { return l.wake }

func (l *Link) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Link) deny(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrAuthorization) || strings.Contains(strings.ToLower(err.Error()), "violation") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.denied = err
		for _, cancel := range l.requests {
			cancel()
		}
	}
}

// limit returns the context of a request, which ends when the hub does not answer in time, or refuses: a request that is refused gets no
// answer.
func (l *Link) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	n := l.number
	l.requests[n] = cancel
	return ctx, func() {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.requests, n)
	}
}

// failed returns an error in words. A request that is refused times out, and the reason is reported beside it.
func (l *Link) failed(err error) error {
	if err == nil {
		return nil
	}
	l.mu.Lock()
	denied := l.denied
	l.denied = nil
	l.mu.Unlock()
	var api *jetstream.APIError
	if denied != nil && !errors.As(err, &api) {
		err = denied
	} else if !l.nc.IsConnected() {
		err = cmp.Or(l.nc.LastError(), nats.ErrDisconnected)
	}
	return explain(l.config.URL, err)
}

func (l *Link) stream(name string) string { return streamName(l.config.Campaign, name) }

func (l *Link) subject(stream, name string) string { return subject(l.config.Campaign, stream, name) }

// Streams says how the stream of testcases stands.
type Streams struct {
	Birth   time.Time // when it was made: one that was made anew has forgotten what was sent
	Last    uint64    // sequence number of its last message
	Entries uint64
	Now     time.Time // by the hub's clock
}

// Streams checks that the hub has the campaign's streams, and makes them where it may.
func (l *Link) Streams(ctx context.Context) (s Streams, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	stream, err := l.js.Stream(ctx, l.stream(entriesStream))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		l.mu.Lock()
		l.denied = nil
		l.mu.Unlock()
		if err = (Layout{}).Make(ctx, l.js, l.config.Campaign); err != nil {
			if p := explain(l.config.URL, l.failed(err)); p.Kind != ProblemRights {
				return s, p
			}
			return s, &Problem{ProblemLayout, fmt.Sprintf("the hub at %s has no campaign %s, and this user may not begin one", l.config.URL, l.config.Campaign),
				"'teasel-hub init --campaign " + l.config.Campaign + "' makes it known", err}
		}
		stream, err = l.js.Stream(ctx, l.stream(entriesStream))
	}
	if err != nil {
		return s, l.failed(err)
	}
	info := stream.CachedInfo()
	if v := info.Config.Metadata[layoutKey]; v != layoutVersion {
		return s, &Problem{ProblemVersion, fmt.Sprintf("the hub at %s has streams of version %q, and this teasel knows %s", l.config.URL, v, layoutVersion),
			"use a teasel of the hub's version, or a new campaign: --hub-name NAME", nil}
	}
	return Streams{info.Created, info.State.LastSeq, info.State.Msgs, info.TimeStamp}, nil
}

// most returns how many bytes of data the hub takes in a message. Subject and headers come on top.
func (l *Link) most() int {
	limit := int64(MaxMessage)
	if n := l.nc.MaxPayload(); n > 0 {
		limit = min(limit, n)
	}
	return int(limit) - 1024
}

// publish stores a message if the last one of its subject has a sequence number; 0: if there is none. What it reports as not stored is not
// there.
func (l *Link) publish(ctx context.Context, subject string, data []byte, last uint64) (stored bool, err error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	if len(data) > l.most() {
		return false, explain(l.config.URL, nats.ErrMaxPayload)
	}
	_, err = l.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(last), jetstream.WithRetryAttempts(0))
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == wrongLastSequence {
		return false, nil
	}
	return err == nil, l.failed(err)
}

// Push stores a testcase, unless the hub has it already: first is false then. When it returns without an error, the hub has it on disk.
func (l *Link) Push(ctx context.Context, e *Entry) (first bool, err error) {
	data, err := e.MarshalBinary()
	if err != nil {
		return false, err
	}
	return l.publish(ctx, l.subject(entriesStream, e.Key), data, 0)
}

// Pull returns testcases after a sequence number, at most so many messages of them, and the number of the last one. What cannot be read is
// passed over.
func (l *Link) Pull(ctx context.Context, after uint64, most int) (es []Entry, last uint64, n int, err error) {
	last = after
	err = l.read(ctx, entriesStream, after, most, func(m *jetstream.RawStreamMsg) {
		last, n = m.Sequence, n+1
		e := Entry{Key: lastToken(m.Subject), Sequence: m.Sequence}
		if CheckName(e.Key) == nil && e.UnmarshalBinary(m.Data) == nil {
			es = append(es, e)
		}
	})
	return es, last, n, err
}

// pullBytes bounds an answer of the hub.
const pullBytes = 4 << 20

// read calls take with the messages of a stream after a sequence number.
func (l *Link) read(ctx context.Context, stream string, after uint64, most int, take func(*jetstream.RawStreamMsg)) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	it, err := jetstreamext.GetBatch(ctx, l.js, l.stream(stream), most, jetstreamext.GetBatchSeq(after+1), jetstreamext.GetBatchMaxBytes(pullBytes))
	if err != nil {
		return l.failed(err)
	}
	return l.failed(takeAll(it, take))
}

// last calls take with the last message of a name.
func (l *Link) last(ctx context.Context, stream, name string, take func(*jetstream.RawStreamMsg)) error {
	return l.lastOf(ctx, stream, []string{l.subject(stream, name)}, take)
}

// lastOf calls take with the last message of each of some subjects, which must not match more than 1,024 messages.
func (l *Link) lastOf(ctx context.Context, stream string, subjects []string, take func(*jetstream.RawStreamMsg)) error {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	it, err := jetstreamext.GetLastMsgsFor(ctx, l.js, l.stream(stream), subjects)
	if err != nil {
		return l.failed(err)
	}
	return l.failed(takeAll(it, take))
}

// takeAll calls take with the messages of an answer. One that never comes is no error to the iterator, and must not pass for an empty one.
func takeAll(it iter.Seq2[*jetstream.RawStreamMsg, error], take func(*jetstream.RawStreamMsg)) error {
	answered := false
	for m, err := range it {
		if errors.Is(err, jetstreamext.ErrNoMessages) {
			return nil
		}
		if err != nil {
			return err
		}
		answered = true
		take(m)
	}
	if !answered {
		return nats.ErrTimeout
	}
	return nil
}

func lastToken(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// Campaign returns the name of the campaign.
func (l *Link) Campaign() string { return l.config.Campaign }
