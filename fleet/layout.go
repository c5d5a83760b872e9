package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// layoutVersion is the version of the streams and of what is in them. A stream has it in its metadata.
const (
	layoutVersion = "1"
	layoutKey     = "teasel-fleet"
)

// The streams of a campaign. Each campaign has its own, so that a user's rights are those to one campaign's.
const (
	entriesStream  = "ENTRIES"  // teasel.<campaign>.entries.<key>: one message a testcase, or about unstable features, never replaced
	findingsStream = "FINDINGS" // teasel.<campaign>.findings.<id>: the last message of a finding is the best one
	controlStream  = "CONTROL"  // teasel.<campaign>.control.about, .order and .cover: what the campaign is about, what its machines are to do, what who joins reads first
	figuresStream  = "FIGURES"  // teasel.<campaign>.figures.<machine>: the latest figures of each machine
)

const (
	// MaxMessage is the size of the largest message that a hub takes, in bytes.
	MaxMessage = 8 << 20
	// figuresAge is how long the figures of a machine that is gone are kept.
	figuresAge = 7 * 24 * time.Hour
	// findingVersions is how many versions of a finding are kept.
	findingVersions = 5
)

const streamPrefix = "TEASEL_"

func streamName(campaign, stream string) string { return streamPrefix + campaign + "_" + stream }

func subject(campaign, stream, name string) string {
	return "teasel." + campaign + "." + strings.ToLower(stream) + "." + name
}

// wakeSubject is the subject on which machines are notified of a new order.
func wakeSubject(campaign string) string { return "teasel." + campaign + ".wake" }

// Layout says how the streams of a campaign are made.
type Layout struct {
	Replicas int   // servers of a cluster that have each message; 0: 1
	MaxBytes int64 // of testcases; 0: what the server has. A hub that is full refuses more, and forgets nothing
}

// Make makes the streams of a campaign where they are missing. Those that are there stay as they are, but for MaxBytes.
func (l Layout) Make(ctx context.Context, js jetstream.JetStream, campaign string) error {
	common := func(stream string) jetstream.StreamConfig {
		return jetstream.StreamConfig{Name: streamName(campaign, stream), Subjects: []string{subject(campaign, stream, "*")},
			Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Replicas: max(l.Replicas, 1), AllowDirect: true, MaxMsgSize: MaxMessage,
			Metadata: map[string]string{layoutKey: layoutVersion}}
	}
	entries, findings, control, figures := common(entriesStream), common(findingsStream), common(controlStream), common(figuresStream)
	// A full hub has to refuse: one that made room would forget testcases that machines believe to be there.
	entries.Discard, entries.DiscardNewPerSubject, entries.MaxMsgsPerSubject = jetstream.DiscardNew, true, 1
	entries.Compression, entries.DenyDelete = jetstream.S2Compression, true
	if l.MaxBytes > 0 {
		entries.MaxBytes = l.MaxBytes
	}
	// Older versions of a finding are replaced; DiscardNewPerSubject would refuse its improvement instead.
	findings.Discard, findings.MaxMsgsPerSubject, findings.DenyDelete, findings.DenyPurge = jetstream.DiscardNew, findingVersions, true, true
	control.MaxMsgsPerSubject, control.DenyPurge = 8, true
	figures.MaxMsgsPerSubject, figures.MaxAge = 1, figuresAge
	if figures.Replicas == 1 { // a budget has to outlive a hub, and not every word of each machine needs a sync
		figures.PersistMode = jetstream.AsyncPersistMode
	}
	for _, c := range []jetstream.StreamConfig{entries, findings, control, figures} {
		if err := makeStream(ctx, js, c); err != nil {
			return fmt.Errorf("making stream %s: %w", c.Name, err)
		}
	}
	return nil
}

func makeStream(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) error {
	s, err := js.Stream(ctx, c.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if _, err = js.CreateStream(ctx, c); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			err = nil // another machine was first
		}
		return err
	}
	if err != nil || c.MaxBytes == 0 {
		return err
	}
	if has := s.CachedInfo().Config; has.MaxBytes != c.MaxBytes && has.Metadata[layoutKey] == layoutVersion {
		has.MaxBytes = c.MaxBytes
		_, err = js.UpdateStream(ctx, has)
	}
	return err
}

// Rights are the subjects that a user of a hub may send to and listen to.
type Rights struct{ Publish, Subscribe []string }

// MachineRights returns the smallest rights with which a machine can take part in a campaign: it reads the campaign's streams, adds testcases
// and findings, says which testcases who joins reads first, and has figures of its own. It can neither give orders nor remove anything.
func MachineRights(campaign, machine string) Rights {
	r := readRights(campaign, machine)
	r.Publish = append(r.Publish, subject(campaign, entriesStream, "*"), subject(campaign, findingsStream, "*"),
		subject(campaign, controlStream, "about"), subject(campaign, controlStream, coverName), subject(campaign, figuresStream, machine))
	return r
}

// OperatorRights returns the rights to look at a campaign and to give its machines orders.
func OperatorRights(campaign, name string) Rights {
	r := readRights(campaign, name)
	r.Publish = append(r.Publish, subject(campaign, controlStream, "order"), wakeSubject(campaign))
	return r
}

func readRights(campaign, name string) (r Rights) {
	for _, s := range []string{entriesStream, findingsStream, controlStream, figuresStream} {
		r.Publish = append(r.Publish, "$JS.API.STREAM.INFO."+streamName(campaign, s), "$JS.API.DIRECT.GET."+streamName(campaign, s))
	}
	r.Subscribe = []string{inboxPrefix(campaign, name) + ".>", wakeSubject(campaign)}
	return r
}

// inboxPrefix is where answers to a user go, and to nobody else: machines of two campaigns may have the same name.
func inboxPrefix(campaign, name string) string { return "_INBOX_." + campaign + "." + name }
