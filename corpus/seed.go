package corpus

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// MaxInput is the size of the biggest input of others that is read: a file, or one in an archive.
const MaxInput = 64 << 20

// Seed is an input that the user has given.
type Seed struct {
	Name string // of its file, below the directory it was loaded from
	Data []byte // encoded
}

// Load reads the inputs below path: every file is one, unless its name begins with a dot. A campaign's directory is
// taken for its seeds and testcases; a single file is fine too, and a zip archive is read like a directory. Of files with the same content only the first by name
// is kept. A file for which check returns an error is left out and is a problem; a nil check takes every file. The
// error says that path itself cannot be read.
func Load(path string, check func(data []byte) error) (seeds []Seed, problems []*Problem, err error) {
	all, problems, err := loadFiles(path, check)
	seen := map[string]bool{}
	for _, s := range all {
		if key := teasel.Key(s.Data); !seen[key] {
			seen[key] = true
			seeds = append(seeds, s)
		}
	}
	return seeds, problems, err
}

// LoadFiles reads the inputs below path as [Load] does, and keeps files with the same content.
func LoadFiles(path string) ([]Seed, []*Problem, error) { return loadFiles(path, nil) }

func loadFiles(path string, check func(data []byte) error) (seeds []Seed, problems []*Problem, err error) {
	roots := []string{path}
	if IsCampaign(path) {
		roots = []string{filepath.Join(path, Valid), filepath.Join(path, EdgeCases), filepath.Join(path, Interesting)}
	} else if _, err := os.Stat(path); err != nil {
		return nil, nil, fmt.Errorf("loading a corpus: %w", err)
	}
	wrong := func(file string, err error) {
		problems = append(problems, &Problem{File: file, Text: "is no input: " + err.Error(), Err: err})
	}
	add := func(file, name string, data []byte) {
		if check != nil {
			if err := check(data); err != nil {
				wrong(file, err)
				return
			}
		}
		seeds = append(seeds, Seed{Name: name, Data: data})
	}
	take := func(file string) {
		if file == path && isArchive(path) {
			err := readArchiveFile(file, func(name string, data []byte) { add(filepath.Join(file, name), name, data) },
				func(name string, err error) { wrong(filepath.Join(file, name), err) })
			if err == nil {
				return // otherwise it is an input, whatever its name says
			}
		}
		data, err := readInput(file)
		if err != nil {
			wrong(file, err)
			return
		}
		add(file, nameBelow(path, file), data)
	}
	for _, root := range roots {
		if r, err := filepath.EvalSymlinks(root); err == nil && len(roots) == 1 && r != root {
			root, path = r, r // a walk does not follow the link it begins with
		}
		err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			switch hidden := strings.HasPrefix(filepath.Base(file), "."); {
			case err != nil && file == root:
				return err
			case err != nil:
				problems = append(problems, &Problem{File: file, Text: "cannot be read: " + err.Error(), Err: err})
			case hidden && file != root && e.IsDir():
				return filepath.SkipDir
			case hidden && file != root || e.IsDir():
			default:
				take(file)
			}
			return nil
		})
		if err != nil && len(roots) == 1 {
			return nil, problems, fmt.Errorf("loading a corpus: %w", err)
		}
	}
	return seeds, problems, nil
}

// nameBelow returns the name of a file below the path that was given, which may be its own.
func nameBelow(path, file string) string {
	if name, err := filepath.Rel(path, file); err == nil && name != "." {
		return name
	}
	return filepath.Base(file)
}

// readInput reads a file that is an input.
func readInput(file string) ([]byte, error) { return readRegular(file, MaxInput) }

// readTestcase reads a file that was written for a testcase. It has no limit: the engine has held the testcase in memory and has
// counted its features, and a corpus on disk that left it out would not be the one that the campaign has.
func readTestcase(file string) ([]byte, error) { return readRegular(file, math.MaxInt64) }

// readRegular reads a file of at most so many bytes, or what a link to one leads to: a pipe or a device may have no end.
func readRegular(file string, most int64) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil || info.IsDir(): // whose error of reading is clearer
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("expected a file, not a %v", info.Mode().Type())
	case info.Size() > most:
		return nil, fmt.Errorf("expected at most %d MB, not %d", most>>20, info.Size()>>20)
	}
	return os.ReadFile(file)
}

// WriteSeed writes a seed to folder, [Valid] or [EdgeCases], under a name that people recognise; other characters than letters,
// digits, dots, underscores and dashes are replaced. It is synced with the rest.
func (d *Dir) WriteSeed(folder, name string, data []byte) error {
	if folder != Valid && folder != EdgeCases {
		return fmt.Errorf("writing a seed: folder %q: expected %s or %s", folder, Valid, EdgeCases)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	stem := plainName(strings.TrimSuffix(name, d.meta.Extension))
	path := filepath.Join(d.path, folder, stem+d.meta.Extension)
	if old, err := os.ReadFile(path); err == nil && string(old) != string(data) {
		path = filepath.Join(d.path, folder, stem+"-"+teasel.Key(data)+d.meta.Extension)
	}
	if err := replace(path, data, false); err != nil {
		return fmt.Errorf("writing a seed: %w", err)
	}
	d.pending = append(d.pending, path)
	return nil
}

// AddInput writes an input of another campaign on the same target to interesting/, where [Dir.Snapshot] finds it: it is run when the
// campaign goes on, and kept if it reaches something new. It is synced with the rest. added is false if the campaign has it already.
func (d *Dir) AddInput(data []byte) (added bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return false, err
	}
	path := d.entryPath(teasel.Key(data))
	if intact(path, data) {
		return false, nil
	}
	if err := restore(path, data, false); err != nil {
		return false, fmt.Errorf("writing an input: %w", err)
	}
	d.pending = append(d.pending, path)
	return true, nil
}

// plainName makes a short name of letters, digits, dots, underscores and dashes.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
	if len(name) > 80 {
		name = name[:80]
	}
	if name = strings.Trim(name, ".-"); name == "" {
		return "seed"
	}
	return name
}
