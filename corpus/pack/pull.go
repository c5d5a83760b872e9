package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Pulled says what [Carrier.Pull] has done.
type Pulled struct {
	Entries int // written
	Known   int // that the directory held already
	Packs   int // read; those whose entries are all there are not
	Other   int // packs of another kind of target than the campaign's, which are left out
}

// Pull writes the entries of the store that a directory does not hold. In a campaign's directory they are inputs to run when it goes
// on; in any other, which need not exist, they are files for --corpus. have is what it holds. A campaign that runs just now is
// [corpus.ErrLocked].
func (c *Carrier) Pull(ctx context.Context, dir, kind string, have []Entry) (p Pulled, err error) {
	names, err := c.Store.List(ctx)
	if err != nil {
		return p, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // --corpus takes it, even if the store is empty
		return p, err
	}
	there := map[string]bool{}
	for i := range have {
		there[have[i].id()] = true
	}
	one := corpus.IsCampaign(dir) // which gets all inputs, whatever folder they come from
	into := inbox{dir: dir, campaigns: map[string]*corpus.Dir{}}
	defer func() { err = errors.Join(err, into.close()) }()
	for _, name := range names {
		if ids, ok := c.recall(name); ok && all(ids, there, one) {
			p.Known += len(ids)
			continue
		}
		of, entries, _, err := c.fetch(ctx, name)
		if err != nil {
			return p, err
		}
		if of != "" && kind != "" && of != kind {
			p.Other++
			continue
		}
		p.Packs++
		for i := range entries {
			if one {
				entries[i].Place = ""
			}
			if id := entries[i].id(); there[id] {
				p.Known++
				continue
			} else {
				there[id] = true
			}
			added, err := into.add(&entries[i])
			switch {
			case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.ENAMETOOLONG):
				c.wrong(name+"/"+entries[i].name(), err) // no other entry is in its way
			case err != nil:
				return p, err
			case added:
				p.Entries++
			default:
				p.Known++
			}
		}
	}
	return p, nil
}

// all reports whether all ids are there; those of a single campaign have no place.
func all(ids []string, there map[string]bool, one bool) bool {
	for _, id := range ids {
		if one {
			id = path.Base(id)
		}
		if !there[id] {
			return false
		}
	}
	return true
}

// inbox is a directory that gets the entries of packs.
type inbox struct {
	dir       string
	campaigns map[string]*corpus.Dir // that are open, by the places in and below them; nil: a plain folder
}

// add writes an entry. It returns false if it is there already.
func (b *inbox) add(e *Entry) (bool, error) {
	d, err := b.campaign(e.Place)
	if err != nil {
		return false, err
	}
	if d != nil {
		return d.AddInput(e.Data)
	}
	at := filepath.Join(b.dir, filepath.FromSlash(e.Place))
	path := filepath.Join(at, teasel.Key(e.Data)+e.Extension)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, e.Data) {
		return false, nil
	}
	return true, writeFile(path, e.Data, false) // it can be fetched again
}

// campaign returns the campaign in a place, or in one above it: its folders have files of its own, and a pack must not add to them. nil: there is
// none.
func (b *inbox) campaign(place string) (d *corpus.Dir, err error) {
	d, seen := b.campaigns[place]
	if seen {
		return d, nil
	}
	if at := filepath.Join(b.dir, filepath.FromSlash(place)); corpus.IsCampaign(at) {
		d, err = corpus.Open(at)
	} else if place != "" {
		above, _ := path.Split(place)
		d, err = b.campaign(strings.TrimSuffix(above, "/"))
	}
	if err == nil {
		b.campaigns[place] = d
	}
	return d, err
}

// close syncs and unlocks the campaigns.
func (b *inbox) close() (err error) {
	closed := map[*corpus.Dir]bool{nil: true}
	for place, d := range b.campaigns {
		if closed[d] {
			continue
		}
		closed[d] = true
		if e := d.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("closing %s: %w", filepath.Join(b.dir, place), e))
		}
	}
	return err
}
