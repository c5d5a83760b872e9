package teasel

import "time"

// EventKind says what an [Event] is about.
type EventKind uint8

const (
	EventInvalid     EventKind = iota
	EventAdded                 // Entry was kept
	EventEvicted               // Entry (its Key is all that is set) is no longer kept
	EventFound                 // Finding is new, better confirmed than before, or has a simpler input
	EventUnconfirmed           // Finding was seen and could not be reproduced or, with Tries 0, was not tried again; it does not count as a finding
	EventProgress              // Stats, Workers, Advances, Sightings, Unstable and Seeds, about once a second and once at the end
	EventNote                  // Text: something a person may want to know
)

var eventNames = [...]string{"invalid", "added", "evicted", "found", "unconfirmed", "progress", "note"}

func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "event?"
}

// Event is something that happened in a campaign. Only the fields its kind names are set.
type Event struct {
	Kind    EventKind
	Entry   Entry
	Finding Finding
	Stats   Stats
	Text    string

	Workers   []WorkerState // by number
	Advances  []Advance     // of testcases, by key
	Sightings []Sighting    // how often findings have occurred in all, by id
	Unstable  []Feature     // found unstable since the last progress event
	Seeds     []SeedEnd     // of a campaign with SeedsOnly: how seeds ended since the last progress event
}

// StageStats counts what one stage has done.
type StageStats struct {
	Name       string `json:"name"`
	Executions uint64 `json:"executions"`
	Kept       uint64 `json:"kept"` // testcases it found
	// Planned is how many executions it makes in all, if it ends and says so; 0: it does not. See [Stage].
	Planned uint64        `json:"planned,omitempty"`
	Time    time.Duration `json:"time,omitempty"` // of workers, in nanoseconds; measured of what is no stage but goes on beside them, and where runs are not counted
}

// Stats holds the figures of a campaign, its earlier runs included.
type Stats struct {
	Elapsed    time.Duration
	Executions uint64
	Messages   uint64 // that targets were sent in them; 0: the kind does not count any
	Corpus     int    // testcases kept now
	Evicted    int    // testcases that were kept once
	Features   int    // distinct stable ones that any testcase has reached
	Seeds      int    // that were given to this run so far
	SeedsRun   int    // of them
	Waiting    int    // how many of the last seeds may not have been run, or calibrated, yet
	Findings   int
	Pending    int           // findings that were seen and are not confirmed: they are being reproduced, or there was no time to
	Workers    int           // most that ran at the same time
	LastKept   time.Duration // when, on the same clock as Elapsed
	LastFound  time.Duration
	Stages     []StageStats // by name
	Memory     uint64       // bytes that we hold from the operating system
	Stability  float64      // share of the features reached that recur, from 0 to 1; 0: nothing was calibrated
}

// KnownShare returns the share of the workers' time that confirming, trimming, minimising and running into faults have taken, from 0 to 1.
// What a background executor does is not in it. 0: it was not measured.
func (s *Stats) KnownShare() float64 {
	var sum time.Duration
	for _, g := range s.Stages {
		switch g.Name {
		case classNames[classConfirm], classNames[classTrim], classNames[classMinimize], classNames[classFault]:
			sum += g.Time
		}
	}
	return sum.Seconds() / max(s.Elapsed.Seconds()*float64(max(s.Workers, 1)), sum.Seconds(), 1e-9)
}

// A Reporter receives events, one at a time. When it returns from [EventFound] the finding is safe. An error ends the campaign; the
// reporters after it are still called, and see in Finding.Unsaved that the finding is not safe. It must not call the [Hub], which waits for
// it. It may keep what an event holds, and must not change it: the hub and the other reporters have the same slices.
type Reporter interface {
	Report(Event) error
}

// Why a campaign ended that has found enough, or whose duration is over.
const (
	stoppedFindings = "findings"
	stoppedDuration = "duration"
)

// Summary is the outcome of a campaign.
type Summary struct {
	Stats
	Findings    []Finding // by severity, worst first, then by rule and subject
	Unconfirmed []Finding // that were seen and not reproduced, in the same order; with Tries 0 there was no time to try
	Stopped     string    // why it ended: "duration", "runs", "seeds" (there was nothing else to run), "values" (all that there are have been tried), "findings", "memory", "interrupted", "failed", or what was given to [Hub.Stop]
}
