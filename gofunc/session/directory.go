package session

import (
	"sync"

	"github.com/teaselfuzz/teasel"
)

// Directory is a reporter between a campaign and its directory: if that cannot be written to, the campaign ends, and what has
// been found reaches those who report it all the same. Fields are set before the first report.
type Directory struct {
	To   teasel.Reporter
	Stop func() // ends the campaign; it is called once

	mu  sync.Mutex
	err error
}

var _ teasel.Reporter = (*Directory)(nil)

// Report implements [teasel.Reporter]. It returns no error, for the hub would not ask the other reporters then, nor have the
// finding in its summary. See [Directory.Failed].
func (d *Directory) Report(e teasel.Event) error {
	err := d.To.Report(e)
	d.mu.Lock()
	first := err != nil && d.err == nil
	if first {
		d.err = err
	}
	d.mu.Unlock()
	if first {
		d.Stop()
	}
	return nil
}

// Failed returns the first error of the directory; nil: there was none.
func (d *Directory) Failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
