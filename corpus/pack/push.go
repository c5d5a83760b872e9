package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Carrier pushes and pulls corpora. All its methods may be called at once, also from several processes and machines.
type Carrier struct {
	Store Store
	Where string                // the store, in messages
	Cache string                // directory that remembers which inputs packs hold, so that none is fetched for that twice; "": none
	Now   func() time.Time      // for the names of packs; nil: time.Now
	Wrong func(*corpus.Problem) // gets what is left out; nil: nobody
}

// Pushed says what [Carrier.Push] has done.
type Pushed struct {
	Entries, Packs int // stored
	Known          int // entries that the store held already
}

// Push stores the entries of a corpus that the store does not hold. What was stored before an error stays: the next push goes on there.
func (c *Carrier) Push(ctx context.Context, kind string, entries []Entry) (p Pushed, err error) {
	known, err := c.known(ctx)
	if err != nil {
		return p, err
	}
	fresh := make([]Entry, 0, len(entries))
	for _, e := range entries {
		e.Place, e.Extension = cleanPlace(e.Place), cleanExtension(e.Extension)
		switch id := e.id(); {
		case len(e.Data) > corpus.MaxInput:
			c.wrong(e.name(), fmt.Errorf("is not pushed: expected at most %d MB", corpus.MaxInput>>20))
		case known[id]:
			p.Known++
		default:
			known[id] = true
			fresh = append(fresh, e)
		}
	}
	slices.SortFunc(fresh, func(a, b Entry) int { return strings.Compare(a.name(), b.name()) })
	for len(fresh) > 0 {
		n, size := 0, 0
		for n < len(fresh) && n < MaxEntries && size < maxContent {
			size += len(fresh[n].Data)
			n++
		}
		data, err := write(kind, fresh[:n])
		if err != nil {
			return p, err
		}
		name := packName(c.now(), data)
		if err := c.Store.Put(ctx, name, data); err != nil {
			return p, err
		}
		c.remember(name, fresh[:n])
		p.Packs++
		p.Entries += n
		fresh = fresh[n:]
	}
	return p, nil
}

// known returns the ids of all entries in the store.
func (c *Carrier) known(ctx context.Context) (map[string]bool, error) {
	names, err := c.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		ids, ok := c.recall(name)
		if !ok {
			if _, _, ids, err = c.fetch(ctx, name); err != nil {
				return nil, err
			}
		}
		for _, id := range ids {
			known[id] = true
		}
	}
	return known, nil
}

// fetch reads a pack. One that is broken or of a newer version is reported, and is as one without entries.
func (c *Carrier) fetch(ctx context.Context, name string) (kind string, entries []Entry, ids []string, err error) {
	data, err := c.Store.Get(ctx, name)
	if err != nil {
		return "", nil, nil, err
	}
	whole := true
	kind, entries, err = read(name, data, func(file string, err error) {
		whole = false
		c.wrong(name+"/"+file, err)
	})
	if err != nil {
		c.wrong(name, err)
		return "", nil, nil, nil
	}
	ids = idsOf(entries)
	if whole {
		c.remember(name, entries)
	}
	return kind, entries, ids, nil
}

func idsOf(entries []Entry) (ids []string) {
	for i := range entries {
		ids = append(ids, entries[i].id())
	}
	return ids
}

// wrong reports what is left out.
func (c *Carrier) wrong(name string, err error) {
	if c.Wrong == nil {
		return
	}
	p, ok := errors.AsType[*corpus.Problem](err)
	if !ok {
		p = &corpus.Problem{File: strings.TrimSuffix(c.Where, "/") + "/" + name, Text: err.Error(), Err: err}
	}
	c.Wrong(p)
}

func (c *Carrier) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// Limits of a place: file systems take no more.
const (
	maxDepth = 16   // folders above an entry
	maxPart  = 255  // bytes of the name of one
	maxPlace = 2048 // bytes of all
)

// cleanPlace returns a place that a pack may have: "" for one that may not be.
func cleanPlace(place string) string {
	parts := strings.Split(place, "/")
	if len(place) > maxPlace {
		return ""
	}
	for _, part := range parts {
		if part == "" || part[0] == '.' || len(parts) > maxDepth || len(part) > maxPart || plain.Text(part) != part || strings.ContainsAny(part, "\\\t\n\ufffd") {
			return ""
		}
	}
	return place
}

// cleanExtension returns an extension that a file of a pack may have: "" for one that may not be.
func cleanExtension(ext string) string {
	rest, dotted := strings.CutPrefix(ext, ".")
	plain := strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == ""
	if !dotted || rest == "" || len(rest) > 16 || !plain {
		return ""
	}
	return ext
}
