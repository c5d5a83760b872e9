package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// unstable are the features of a build that machines of the fleet have seen to vary between runs of one input. They travel in the stream of
// testcases: who reads it once knows them all.
type unstable struct {
	onHub map[teasel.Feature]bool // whether the hub has it, too
	fresh []teasel.Feature        // of others, which the campaign does not know yet
}

// here adds what this machine has seen.
func (u *unstable) here(fs []teasel.Feature) {
	for _, f := range fs {
		if _, known := u.onHub[f]; !known {
			u.onHub[f] = false
		}
	}
}

// there adds what another machine has seen.
func (u *unstable) there(fs teasel.FeatureSet) {
	for f := range fs.All() {
		if _, known := u.onHub[f]; !known {
			u.fresh = append(u.fresh, f)
		}
		u.onHub[f] = true
	}
}

// forget has everything sent again.
func (u *unstable) forget() {
	for f := range u.onHub {
		u.onHub[f] = false
	}
}

// unsent returns what the hub does not have, sorted.
func (u *unstable) unsent() (fs []teasel.Feature) {
	for _, f := range slices.Sorted(maps.Keys(u.onHub)) {
		if !u.onHub[f] {
			fs = append(fs, f)
		}
	}
	return fs
}

// adds reports whether a testcase reaches a feature that counts and that is in none of the sets of known ones.
func (u *unstable) adds(fs teasel.FeatureSet, known ...map[teasel.Feature]struct{}) bool {
	for f := range fs.All() {
		if _, varies := u.onHub[f]; varies {
			continue
		}
		if !slices.ContainsFunc(known, func(set map[teasel.Feature]struct{}) bool { _, dup := set[f]; return dup }) {
			return true
		}
	}
	return false
}

// stable returns the features of a testcase that count.
func (u *unstable) stable(fs teasel.FeatureSet) teasel.FeatureSet {
	if len(u.onHub) == 0 {
		return fs
	}
	return teasel.NewFeatureSet(slices.DeleteFunc(fs.Append(nil), func(f teasel.Feature) bool {
		_, varies := u.onHub[f]
		return varies
	})...)
}

// warn sends the features that this machine has seen to vary and that the fleet does not know of.
func (b *Bridge) warn(ctx context.Context) error {
	b.mu.Lock()
	fs := b.unstable.unsent()
	b.mu.Unlock()
	if len(fs) == 0 {
		return nil
	}
	e := Entry{Build: b.about.build(), Machine: b.link.config.Machine, Unstable: teasel.NewFeatureSet(fs...)}
	data, err := e.MarshalBinary()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	e.Key = "unstable-" + hex.EncodeToString(sum[:8])
	if _, err := b.link.Push(ctx, &e); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unstable.there(e.Unstable)
	return nil
}
