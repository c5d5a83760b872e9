package teasel

import (
	"cmp"
	"iter"
	"slices"
)

// entryLog holds a hub's testcases in order of arrival. It forgets what is evicted, or a long campaign would hold all that it
// ever kept.
type entryLog struct {
	records []*record // by id; some of them evicted
	keys    map[string]ID
	evicted int // of records
	next    ID
}

type record struct {
	Entry
	id   ID
	from int // number of the link that brought it
	gone bool
}

func newEntryLog() entryLog { return entryLog{keys: map[string]ID{}} }

func (l *entryLog) len() int { return len(l.keys) }

func (l *entryLog) add(from int, e Entry) {
	l.records = append(l.records, &record{Entry: e, id: l.next, from: from})
	l.keys[e.Key] = l.next
	l.next++
}

// at returns the place of the first record whose id is not below id.
func (l *entryLog) at(id ID) int {
	i, _ := slices.BinarySearchFunc(l.records, id, func(r *record, id ID) int { return cmp.Compare(r.id, id) })
	return i
}

// byKey returns the testcase with a key, nil if there is none.
func (l *entryLog) byKey(key string) *record {
	id, ok := l.keys[key]
	if !ok {
		return nil
	}
	return l.records[l.at(id)]
}

// remove evicts a testcase and returns its key. The place in records is given up when half of them are evicted.
func (l *entryLog) remove(id ID) (key string) {
	r := l.records[l.at(id)]
	key = r.Key
	delete(l.keys, key)
	r.Entry, r.gone = Entry{}, true
	if l.evicted++; l.evicted > len(l.records)/2 {
		l.records = slices.DeleteFunc(l.records, func(r *record) bool { return r.gone })
		l.evicted = 0
	}
	return key
}

// since yields the testcases from an id on.
func (l *entryLog) since(id ID) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, r := range l.records[l.at(id):] {
			if !r.gone && !yield(r) {
				return
			}
		}
	}
}

func (l *entryLog) all() []Entry {
	var out []Entry
	for r := range l.since(0) {
		out = append(out, r.Entry)
	}
	return out
}
