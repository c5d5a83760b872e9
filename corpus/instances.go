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
	syncedName = ".synced" // how far we have read each other instance, in our directory: a file each, as AFL++ has it
	pullMost   = 1024      // inputs that are brought at a time
	aflLargest = 1 << 20   // AFL++ has no longer inputs
)

// Instances are the other instances of an AFL++ campaign: the folders beside ours that have a queue. Each input of theirs
// is brought once; how far that has gone is kept as AFL++ keeps it, so that the next run goes on there. One goroutine at a
// time may use it.
type Instances struct {
	sync, name string
	next       map[string]uint32 // number to go on with, by instance
	kept       map[string]uint32 // of that, what is on disk
	seen       map[string]bool   // keys of what was brought
}

var _ teasel.Source = (*Instances)(nil)

// NewInstances returns the instances beside name in AFL++'s output directory sync.
func NewInstances(sync, name string) *Instances {
	return &Instances{sync: sync, name: name, next: map[string]uint32{}, kept: map[string]uint32{}, seen: map[string]bool{}}
}

// Pull implements [teasel.Source]. What an earlier call has brought is noted as done only now.
func (n *Instances) Pull(ctx context.Context) ([][]byte, error) {
	if err := n.keep(); err != nil {
		return nil, fmt.Errorf("noting what was read of other instances: %w", err)
	}
	others, err := os.ReadDir(n.sync)
	if err != nil {
		return nil, fmt.Errorf("looking for other instances: %w", err)
	}
	var ins [][]byte
	for _, o := range others {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if name := o.Name(); o.IsDir() && name != n.name && !strings.HasPrefix(name, ".") && len(ins) < pullMost {
			ins = n.read(ins, name)
		}
	}
	return ins, nil
}

// read appends what is new in the queue of an instance. Unreadable files are passed over: other instances come and go as
// it likes.
func (n *Instances) read(ins [][]byte, name string) [][]byte {
	queue := filepath.Join(n.sync, name, Queue)
	files, err := os.ReadDir(queue) // sorted, as long as the numbers have six digits
	if err != nil {
		return ins
	}
	next, known := n.next[name]
	if !known {
		next = n.stored(name)
	}
	for _, f := range files {
		var id uint32
		if _, err := fmt.Sscanf(f.Name(), "id:%d,", &id); err != nil || id < next || !f.Type().IsRegular() {
			continue
		}
		if len(ins) == pullMost {
			break
		}
		next = id + 1
		if strings.Contains(f.Name(), ",sync:"+n.name+",") { // it had that from us
			continue
		}
		if info, err := f.Info(); err != nil || info.Size() == 0 || info.Size() > aflLargest {
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

// stored returns where an earlier run has stopped.
func (n *Instances) stored(name string) uint32 {
	data, err := os.ReadFile(filepath.Join(n.sync, n.name, syncedName, name))
	if err != nil || len(data) != 4 {
		return 0
	}
	at := binary.NativeEndian.Uint32(data)
	n.kept[name] = at
	return at
}

func (n *Instances) keep() error {
	dir := filepath.Join(n.sync, n.name, syncedName)
	for _, name := range slices.Sorted(maps.Keys(n.next)) {
		at := n.next[name]
		if n.kept[name] == at {
			continue
		}
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := replace(filepath.Join(dir, name), binary.NativeEndian.AppendUint32(nil, at), false); err != nil {
			return err
		}
		n.kept[name] = at
	}
	return nil
}
