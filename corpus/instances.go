package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

const (
	syncedName  = ".synced" // how far we have read each other instance, in our directory: a file each, as AFL++ has it
	maxPull     = 1024      // inputs that are read at a time
	maxAFLInput = 1 << 20   // longest input of AFL++, in bytes
)

// Instances are the other instances of an AFL++ campaign: the folders beside ours that have a queue. Each input of theirs
// is read once. Up to which number they were read is stored as AFL++ stores it, so that the next run continues there. One goroutine at
// a time may use it.
type Instances struct {
	sync, name string
	next       map[string]uint32 // number of the next input, by instance
	stored     map[string]uint32 // the same, as it is on disk
	seen       map[string]bool   // keys of the inputs that were read
}

var _ teasel.Source = (*Instances)(nil)

// NewInstances returns the instances beside name in AFL++'s output directory sync.
func NewInstances(sync, name string) *Instances {
	return &Instances{sync: sync, name: name, next: map[string]uint32{}, stored: map[string]uint32{}, seen: map[string]bool{}}
}

// Pull implements [teasel.Source]. The inputs of a call are stored as read with the next one.
func (n *Instances) Pull(ctx context.Context) (s teasel.Supply, err error) {
	if err := n.writeProgress(); err != nil {
		return s, fmt.Errorf("noting what was read of other instances: %w", err)
	}
	others, err := os.ReadDir(n.sync)
	if err != nil {
		return s, fmt.Errorf("looking for other instances: %w", err)
	}
	for _, o := range others {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if name := o.Name(); o.IsDir() && name != n.name && !strings.HasPrefix(name, ".") && len(s.Inputs) < maxPull {
			s.Inputs = n.read(s.Inputs, name)
		}
	}
	return s, nil
}

// read appends what is new in the queue of an instance. Unreadable files are skipped: other instances may start and end at any time.
func (n *Instances) read(ins [][]byte, name string) [][]byte {
	queue := filepath.Join(n.sync, name, Queue)
	files, err := os.ReadDir(queue) // sorted, as long as the numbers have six digits
	if err != nil {
		return ins
	}
	next, known := n.next[name]
	if !known {
		next = n.readProgress(name)
	}
	for _, f := range files {
		var id uint32
		if _, err := fmt.Sscanf(f.Name(), "id:%d,", &id); err != nil || id < next || !f.Type().IsRegular() {
			continue
		}
		if len(ins) == maxPull {
			break
		}
		next = id + 1
		if strings.Contains(f.Name(), ",sync:"+n.name+",") { // it has that input from us
			continue
		}
		if info, err := f.Info(); err != nil || info.Size() == 0 || info.Size() > maxAFLInput {
			continue
		}
		data, err := os.ReadFile(filepath.Join(queue, f.Name()))
		if key := teasel.Key(data); err == nil && !n.seen[key] {
			n.seen[key] = true
			ins = append(ins, data)
		}
	}
	n.next[name] = next
	return ins
}

// readProgress returns the number that an earlier run has stored for an instance.
func (n *Instances) readProgress(name string) uint32 {
	data, err := os.ReadFile(filepath.Join(n.sync, n.name, syncedName, name))
	if err != nil || len(data) != 4 {
		return 0
	}
	at := binary.NativeEndian.Uint32(data)
	n.stored[name] = at
	return at
}

// writeProgress stores up to which numbers the instances were read.
func (n *Instances) writeProgress() error {
	dir := filepath.Join(n.sync, n.name, syncedName)
	for _, name := range slices.Sorted(maps.Keys(n.next)) {
		at := n.next[name]
		if n.stored[name] == at {
			continue
		}
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := replace(filepath.Join(dir, name), binary.NativeEndian.AppendUint32(nil, at), false); err != nil {
			return err
		}
		n.stored[name] = at
	}
	return nil
}
