package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Queue is where AFL++ has its corpus.
const Queue = "queue"

// numberedDir is a folder whose files are numbered as AFL++ numbers them: id:000007,src:000003,time:1234,execs:5678,op:havoc.
// AFL++'s instances read each other's queues number by number and wait for the next one for ever: there is no gap, and
// an input keeps its number when the corpus no longer holds it.
type numberedDir struct {
	path  string
	next  int
	names map[string]string // of files, by what they hold: the key of a testcase, the id of a finding
	ids   map[string]int    // numbers, by the same
}

// openNumbered reads what an earlier run has left in a folder, which it creates if there is none. holds returns the key or id of a file.
// What cannot be read is a problem, and keeps its number: the name is taken.
func (d *Dir) openNumbered(folder string, holds func(path string) (string, error)) (*numberedDir, error) {
	path := filepath.Join(d.path, folder)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	if err := sweep(path); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	s := &numberedDir{path: path, names: map[string]string{}, ids: map[string]int{}}
	for _, f := range files {
		var id int
		if _, err := fmt.Sscanf(f.Name(), "id:%d,", &id); err != nil {
			continue
		}
		s.next = max(s.next, id+1)
		file := filepath.Join(path, f.Name())
		if !f.Type().IsRegular() {
			d.note(&Problem{File: file, Text: fmt.Sprintf("expected a file, not a %v", f.Type())})
			continue
		}
		key, err := holds(file)
		if err != nil {
			d.note(&Problem{File: file, Text: "expected an input: " + err.Error(), Err: err})
			continue
		}
		s.names[key], s.ids[key] = f.Name(), id
	}
	return s, nil
}

// put gives an input the next number; rest is the name after it. What the folder holds already keeps its number and is
// written again unless it is a testcase, which never changes. same is a file with the same content, "": none. It returns
// the file's path.
func (s *numberedDir) put(key, rest, same string, data []byte) (path string, err error) {
	if name := s.names[key]; name != "" {
		path = filepath.Join(s.path, name)
		if same == "" {
			err = restore(path, data, false)
		}
		return path, err
	}
	name := fmt.Sprintf("id:%06d,%s", s.next, rest)
	path = filepath.Join(s.path, name)
	linked := false
	if same != "" {
		linked = os.Link(same, path) == nil // not every file system can
	}
	if !linked {
		err = replace(path, data, false)
	}
	if err == nil {
		s.names[key], s.ids[key] = name, s.next
		s.next++
	}
	return path, err
}

// contentKey returns the key of the testcase in a file.
func contentKey(path string) (string, error) {
	data, err := readTestcase(path)
	return teasel.Key(data), err
}

// findingSuffix stands before the id of a finding, at the end of the name of its input's file.
const findingSuffix = "finding:"

// findingID returns the id of the finding whose input is in a file.
func findingID(path string) (string, error) {
	return path[strings.LastIndex(path, findingSuffix)+len(findingSuffix):], nil // of a file that is not ours, this is no id
}

// openQueue counts the edges of the corpus and, for AFL++, puts the testcases into its queue.
func (d *Dir) openQueue() (err error) {
	for e := range d.state.kept() {
		d.addEdges(e)
	}
	if !d.meta.AFL {
		return nil
	}
	if d.queue, err = d.openNumbered(Queue, contentKey); err != nil {
		return fmt.Errorf("opening %s: %w", Queue, err)
	}
	for e := range d.state.kept() {
		data, err := readTestcase(d.entryPath(e.Key))
		if err != nil || teasel.Key(data) != e.Key { // Snapshot reports lost and damaged files
			continue
		}
		if err := d.enqueue(e, data); err != nil {
			return err
		}
	}
	return nil
}

// enqueue puts a testcase into AFL++'s queue.
func (d *Dir) enqueue(e *teasel.Entry, data []byte) error {
	if d.queue == nil {
		return nil
	}
	path, err := d.queue.put(e.Key, d.queueName(e), d.entryPath(e.Key), data)
	if err != nil {
		return fmt.Errorf("queueing a testcase: %w", err)
	}
	d.pending = append(d.pending, path)
	return nil
}

// queueName returns the part of a file's name that says where a testcase comes from.
func (d *Dir) queueName(e *teasel.Entry) string {
	when := fmt.Sprintf("time:%d,execs:%d", e.Found.Milliseconds(), e.Execution)
	if e.Stage == "" {
		return when + ",orig:" + e.Key
	}
	if parent, ok := d.queue.ids[e.Parent]; ok {
		when = fmt.Sprintf("src:%06d,%s", parent, when)
	}
	return when + ",op:" + plainName(e.Stage)
}

// openInputs opens the folders of plain inputs, and writes those that are missing.
func (d *Dir) openInputs() (err error) {
	if d.meta.AFL {
		d.inputs = map[string]*numberedDir{}
		for _, folder := range [...]string{Crashes, Hangs} {
			if d.inputs[folder], err = d.openNumbered(folder, findingID); err != nil {
				return fmt.Errorf("opening %s: %w", folder, err)
			}
		}
	}
	for _, id := range d.state.ids() {
		f := d.state.findings[id]
		if f == nil {
			continue
		}
		folder := d.meta.folder(f.Rule)
		d.series.countFinding(folder)
		name := id + d.meta.Extension
		if s := d.inputs[folder]; s != nil {
			name = s.names[id]
		}
		if _, err := os.Lstat(filepath.Join(d.path, folder, name)); err == nil && name != "" {
			continue
		}
		if err := d.plainInput(id, f); err != nil {
			return err
		}
	}
	return nil
}

// plainInput writes the input of a crash or hang as the target takes it.
func (d *Dir) plainInput(id string, f *teasel.Finding) (err error) {
	folder := d.meta.folder(f.Rule)
	if folder == "" {
		return nil
	}
	path := filepath.Join(d.path, folder, id+d.meta.Extension)
	if s := d.inputs[folder]; s != nil {
		rest := fmt.Sprintf("time:%d,execs:%d,%s%s", d.state.stats.Elapsed.Milliseconds(), f.Execution, findingSuffix, id)
		if folder == Crashes {
			rest = fmt.Sprintf("sig:%02d,%s", f.Signal, rest)
		}
		path, err = s.put(id, rest, "", f.Input)
	} else {
		err = restore(path, f.Input, false)
	}
	if err != nil {
		return fmt.Errorf("writing the input of finding %s: %w", id, err)
	}
	d.pending = append(d.pending, path)
	return nil
}

// InputFile returns where the plain input of a finding is whose file is at path in a campaign's directory; "": the file
// has been taken out of there, or the finding is neither a crash nor a hang.
func InputFile(path, id string) string {
	for _, folder := range [...]string{Crashes, Hangs} {
		dir := filepath.Join(filepath.Dir(path), "..", folder) // of a mere name, the directory above is not in it
		files, _ := os.ReadDir(dir)                            // there may be none
		for _, f := range files {
			name := f.Name()
			if strings.TrimSuffix(name, filepath.Ext(name)) == id || strings.HasSuffix(name, findingSuffix+id) {
				return filepath.Join(dir, name)
			}
		}
	}
	return ""
}

// FindingOf returns the file of the finding whose plain input is at path in a campaign's directory, in crashes or hangs; path itself: it
// is nothing of the kind.
func FindingOf(path string) string {
	folder := filepath.Dir(path)
	if name := filepath.Base(folder); name != Crashes && name != Hangs {
		return path
	}
	id := filepath.Base(path)
	if at := strings.LastIndex(id, findingSuffix); at >= 0 {
		id = id[at+len(findingSuffix):]
	}
	file := filepath.Join(filepath.Dir(folder), Findings, strings.TrimSuffix(id, filepath.Ext(id))+".json")
	if _, err := os.Stat(file); err != nil {
		return path
	}
	return file
}
