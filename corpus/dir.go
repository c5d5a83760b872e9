package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
)

// The parts of a campaign's directory.
const (
	campaignName = "campaign.json"
	lockName     = "lock"

	Valid       = "seeds/valid"      // seeds that the target should take
	EdgeCases   = "seeds/edge_cases" // seeds at a border
	Interesting = "interesting"      // testcases
	Crashes     = "crashes"          // inputs of findings that are crashes
	Hangs       = "hangs"            // inputs of findings that are hangs
	Findings    = "findings"         // one file per finding
	Unconfirmed = "unconfirmed"      // the same for findings that are unconfirmed; created with the first one
)

var folders = []string{Valid, EdgeCases, Interesting, Crashes, Hangs, Findings}

// ErrExists is what [Create] returns, wrapped, when the directory holds a campaign already.
var ErrExists = errors.New("holds a campaign already")

// ErrForeign is what [Create] returns, wrapped, when the directory holds files that do not belong to a campaign.
var ErrForeign = errors.New("holds other files")

// Dir is a campaign's directory. It has one writer at a time, in one process. Its methods are safe for concurrent use.
type Dir struct {
	path         string
	readOnly     bool
	lock         *os.File
	now          func() time.Time
	lastProgress time.Time // of the last progress event, or of the opening of the directory

	mu           sync.Mutex
	meta         Meta
	epoch        int // of campaign.json
	state        state
	problems     []*Problem                // that loading has found
	notConfirmed map[string]teasel.Finding // unconfirmed findings by id; their files are in unconfirmed/
	journal      *journal
	compacting   *compaction // in progress; nil: none is
	beforeWrite  func()      // called before a compaction writes; nil except in tests
	series       series
	queue        *numberedDir            // nil: not wanted
	inputs       map[string]*numberedDir // by folder; nil: inputs of findings are named by the finding
	edges        EdgeSet                 // that the testcases reach
	closed       bool

	pending []string // written, and not yet synced
	syncing chan job
	synced  chan struct{} // closed when the syncing goroutine is gone
	failed  error         // of that goroutine
}

var _ teasel.Reporter = (*Dir)(nil)

// Create makes a campaign's directory, which may exist as long as it holds neither a campaign nor
// other files, and locks it.
func Create(path string, m Meta) (*Dir, error) {
	if err := errors.Join(m.check(), checkForeign(path)); err != nil {
		return nil, fmt.Errorf("creating %s: %w", path, err)
	}
	d := &Dir{path: path, meta: m, now: time.Now, state: newState(), edges: EdgeSet{}, notConfirmed: map[string]teasel.Finding{}}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(path, f), 0o755); err != nil {
			return nil, fmt.Errorf("creating %s: %w", path, err)
		}
	}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	for _, n := range []string{campaignName, journalName} {
		if _, err := os.Lstat(filepath.Join(path, n)); err == nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrExists), release(d.lock))
		}
	}
	err := sweep(path)
	if err == nil {
		err = d.start()
	}
	if err != nil {
		return nil, errors.Join(err, d.abandon())
	}
	return d, nil
}

// abandon releases the resources of a directory that could not be opened.
func (d *Dir) abandon() error {
	var err error
	if d.journal != nil {
		err = d.journal.file.Close()
	}
	return errors.Join(err, release(d.lock))
}

// checkForeign returns an error if there are files that do not belong to a campaign. A directory with a campaign may hold any files.
func checkForeign(path string) error {
	files, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if f.Name() == campaignName || f.Name() == journalName {
			return nil
		}
	}
	for _, f := range files {
		part := f.Name() == lockName || halfWritten(f)
		for _, folder := range folders {
			top, _, _ := strings.Cut(folder, "/")
			part = part || f.IsDir() && f.Name() == top
		}
		if !part {
			return fmt.Errorf("it %w, such as %s", ErrForeign, f.Name())
		}
	}
	return nil
}

// Open locks the directory of a campaign that is to go on.
func Open(path string) (*Dir, error) {
	if err := exists(path); err != nil {
		return nil, err
	}
	d := &Dir{path: path, now: time.Now, edges: EdgeSet{}}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	err := d.repair()
	if err == nil {
		err = d.load()
	}
	if err == nil {
		err = d.backupBroken()
	}
	if err == nil {
		err = d.start()
	}
	if err != nil {
		return nil, errors.Join(err, d.abandon())
	}
	return d, nil
}

// OpenReadOnly opens the directory of a campaign to look at it, also while it runs. It writes nothing.
func OpenReadOnly(path string) (*Dir, error) {
	if err := exists(path); err != nil {
		return nil, err
	}
	d := &Dir{path: path, now: time.Now, readOnly: true}
	if err := d.load(); err != nil {
		return nil, err
	}
	return d, nil
}

// IsCampaign reports whether path is the directory of a campaign.
func IsCampaign(path string) bool { return exists(path) == nil }

// Remove removes the directory of a campaign that nobody has open. What says that it is one goes last, so that what is left when the process
// is killed meanwhile can be removed by another call.
func Remove(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("removing a campaign: %w", err)
	}
	for _, e := range entries {
		if e.Name() == campaignName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(path, e.Name())); err != nil {
			return fmt.Errorf("removing a campaign: %w", err)
		}
	}
	return os.RemoveAll(path)
}

func exists(path string) error {
	for _, n := range []string{campaignName, journalName} {
		if _, err := os.Stat(filepath.Join(path, n)); err == nil {
			return nil
		}
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return absentError("there is no directory " + path)
	case err != nil:
		return fmt.Errorf("opening a campaign: %w", err)
	case !info.IsDir():
		return absentError(path + " is a file, and no campaign's directory")
	}
	return absentError("the directory " + path + " holds no campaign: it has no " + campaignName)
}

// absentError says in a sentence that a campaign is not there. It is [fs.ErrNotExist].
type absentError string

func (e absentError) Error() string { return string(e) }

func (e absentError) Is(target error) bool { return target == fs.ErrNotExist }

func (d *Dir) acquire() (err error) {
	d.lock, err = acquire(d.path)
	return err
}

// repair creates missing directories and removes temporary files that a killed process has left.
func (d *Dir) repair() error {
	for _, f := range append([]string{"."}, folders...) {
		dir := filepath.Join(d.path, f)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("opening %s: %w", d.path, err)
		}
		if err := sweep(dir); err != nil {
			return fmt.Errorf("opening %s: %w", d.path, err)
		}
	}
	return nil
}

// start writes the campaign's files, makes the directories durable and begins to sync in the background.
func (d *Dir) start() error {
	d.lastProgress = d.now()
	if err := d.compact(); err != nil {
		return err
	}
	if err := d.openInputs(); err != nil {
		return err
	}
	if err := d.openQueue(); err != nil {
		return err
	}
	if err := d.series.open(d.path); err != nil {
		return err
	}
	for _, p := range []string{filepath.Join(d.path, "seeds"), d.path, filepath.Dir(filepath.Clean(d.path))} {
		if err := syncPath(p); err != nil {
			return errors.Join(fmt.Errorf("creating %s: %w", d.path, err), d.series.close())
		}
	}
	d.syncing, d.synced = make(chan job, 1), make(chan struct{})
	go d.syncLoop()
	return nil
}

// Path returns where the directory is.
func (d *Dir) Path() string { return d.path }

// FindingPath returns where the file of a finding is, or will be.
func (d *Dir) FindingPath(id string) string { return filepath.Join(d.path, Findings, id+".json") }

// UnconfirmedPath returns where the file of a finding is that there was no time to reproduce.
func (d *Dir) UnconfirmedPath(id string) string {
	return filepath.Join(d.path, Unconfirmed, id+".json")
}

// Running reports whether the campaign may be running just now, in whatever process.
func (d *Dir) Running() bool { return d.live() }

// Workers returns how far each worker has come, by number.
func (d *Dir) Workers() []teasel.WorkerState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.state.workers)
}

// writable must be called with the lock held, as must all below.
func (d *Dir) writable() error {
	switch {
	case d.readOnly:
		return fmt.Errorf("writing to %s: opened for reading", d.path)
	case d.closed:
		return fmt.Errorf("writing to %s: %w", d.path, fs.ErrClosed)
	}
	return nil
}

// Close syncs what is not yet on disk, writes campaign.json anew and releases the lock.
func (d *Dir) Close() error {
	d.mu.Lock()
	if d.readOnly || d.closed {
		d.closed = true
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	close(d.syncing)
	d.mu.Unlock()
	<-d.synced
	d.mu.Lock()
	defer d.mu.Unlock()
	errs := []error{d.failed, d.syncFiles(job{paths: d.pending}), d.updateCounts(), d.compact(), d.series.write(d), d.series.close(),
		d.journal.file.Close(), release(d.lock)}
	d.pending = nil
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("closing %s: %w", d.path, err)
		}
	}
	return errors.Join(errs...)
}
