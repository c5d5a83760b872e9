package fleet

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// The files in a campaign's directory.
const (
	positionName = "fleet.json" // which hub, and how far it was read
	sentName     = "fleet-sent" // what the hub has acknowledged, a line each
)

// position says which streams the list of what was sent is about, and how far they were read.
type position struct {
	Version  int       `json:"version"`
	Campaign string    `json:"campaign"`
	Birth    time.Time `json:"birth"`
	Cursor   uint64    `json:"cursor"` // sequence number up to which testcases have run here
}

// acknowledged is the list of what the hub has acknowledged. What is in the campaign and not in the list is what there is to send. It needs
// no sync: what is missing in it is sent again, and the hub knows it.
type acknowledged struct {
	dir      string
	at       position
	entries  map[string]bool
	findings map[string]string // digests, by id
	sent     int               // testcases that this machine was the first to send
	file     *os.File
}

// openAcknowledged reads the list of a campaign's directory.
func openAcknowledged(dir, campaign string) (*acknowledged, error) {
	a := &acknowledged{dir: dir, entries: map[string]bool{}, findings: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(dir, positionName))
	if err == nil {
		err = json.Unmarshal(text, &a.at)
	}
	fresh := a.at.Campaign != campaign || a.at.Version != 1
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fresh = true // damaged: all is sent again
	}
	if fresh {
		a.at = position{Version: 1, Campaign: campaign}
	} else if err := a.load(); err != nil {
		return nil, err
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if fresh {
		flags |= os.O_TRUNC
	}
	if a.file, err = os.OpenFile(filepath.Join(dir, sentName), flags, 0o644); err != nil {
		return nil, fmt.Errorf("opening the list of what was sent: %w", err)
	}
	return a, nil
}

func (a *acknowledged) load() error {
	f, err := os.Open(filepath.Join(a.dir, sentName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the list of what was sent: %w", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		switch w := strings.Fields(s.Text()); { // a line that was cut off names nothing that there is, or is sent again
		case len(w) == 3 && w[0] == "entry":
			if w[2] == "sent" && !a.entries[w[1]] {
				a.sent++
			}
			a.entries[w[1]] = true
		case len(w) == 3 && w[0] == "finding":
			a.findings[w[1]] = w[2]
		}
	}
	return s.Err()
}

// forget begins the list anew: the hub has other streams than it had.
func (a *acknowledged) forget(birth time.Time) error {
	if err := a.file.Truncate(0); err != nil { // what is forgotten is sent again; what were taken for sent to another hub would not be
		return err
	}
	clear(a.entries)
	clear(a.findings)
	before := a.at
	a.at.Birth, a.at.Cursor, a.sent = birth, 0, 0
	err := a.store()
	if err != nil {
		a.at = before // so that the next round forgets again
	}
	return err
}

func (a *acknowledged) store() error {
	text, err := json.Marshal(a.at)
	if err != nil {
		return err
	}
	return corpus.WriteFile(filepath.Join(a.dir, positionName), append(text, '\n'))
}

// entry records that the hub has a testcase that was sent, or that it need not be sent.
func (a *acknowledged) entry(key string, sent bool) error {
	a.entries[key] = true
	how := "known" // what it reaches is reached by what is there
	if sent {
		how = "sent"
	}
	return a.line("entry " + key + " " + how)
}

func (a *acknowledged) finding(id, digest string) error {
	a.findings[id] = digest
	return a.line("finding " + id + " " + digest)
}

// line begins with a line break, since the last line may have been cut off.
func (a *acknowledged) line(text string) error {
	if _, err := a.file.WriteString("\n" + text + "\n"); err != nil {
		return fmt.Errorf("writing the list of what was sent: %w", err)
	}
	return nil
}

// digest names what of a finding is worth sending again.
func digest(f *teasel.Finding) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %v %s", f.Stable, f.Tries, f.Minimal, f.Input))
	return hex.EncodeToString(h[:8])
}
