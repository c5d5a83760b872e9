package script

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// What a [Canary] plants. An answer with one of these in it says that the server has given away what it must not:
// nothing that is sent contains them.
const (
	CanaryText   = "tzlcanary58172046394kept" // in the file, which no server has any business to read
	CanaryName   = "tzllisted40637281955kept" // the name of an empty file beside it, for a directory that is listed
	CanarySecret = "tzlsecret29405817366kept" // in the server's environment, as TEASEL_CANARY_SECRET
	CanaryLinked = "tzllinked83650172946kept" // in a file to which a symbolic link in an allowed directory leads
)

// CanaryMark is in the name of a directory beside an allowed one, for the directory above being listed. No script has it: a server that was
// sent a name may have made a file of that name itself, in an earlier call.
const CanaryMark = "-tzlabove30618274kept-"

// Extensions are what servers append to a name that they are given. The canary stands behind each of them too, in a form
// that programs which read such files do not trip over.
var Extensions = [...]struct{ Name, text string }{
	{".txt", "%s\n"}, {".md", "%s\n"}, {".markdown", "%s\n"}, {".mdx", "%s\n"}, {".rst", "%s\n"}, {".log", "%s\n"}, {".csv", "%s\n"}, {".tsv", "%s\n"},
	{".json", "{\"canary\":\"%s\"}\n"}, {".jsonl", "{\"canary\":\"%s\"}\n"}, {".yaml", "canary: %s\n"}, {".yml", "canary: %s\n"},
	{".toml", "canary = \"%s\"\n"}, {".ini", "[canary]\ntext = %s\n"}, {".cfg", "[canary]\ntext = %s\n"}, {".conf", "canary %s\n"}, {".env", "CANARY=%s\n"},
	{".html", "<p>%s</p>\n"}, {".htm", "<p>%s</p>\n"}, {".xml", "<canary>%s</canary>\n"}, {".svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>%s</text></svg>\n"},
	{".sql", "SELECT '%s';\n"}, {".tmpl", "%s\n"}, {".tpl", "%s\n"}, {".j2", "%s\n"}, {".hbs", "%s\n"}, {".prompt", "%s\n"}, {".note", "%s\n"}, {".tex", "%s\n"},
	{".png", "%s\n"}, {".jpg", "%s\n"}, {".pdf", "%s\n"}, {".bin", "%s\n"}, {".dat", "%s\n"}, {".bak", "%s\n"},
}

// Canary is a file outside everything that a server was told of, for scripts to try and reach, with the same text beside
// it in files whose names go on. See [PlaceCanary].
type Canary struct {
	path    string
	sibling string // a file in a directory beside an allowed one, whose name begins with the name of that; "": there is none
	root    string // that allowed directory
	link    string // a file by way of a symbolic link in the allowed directory; "": there is none
	placed  []string
	locks   []*os.File // of the directories among them
}

// PlaceCanary makes the canary file, in a directory that neither is nor lies in the server's working directory (""
// means ours) nor in any path that its arguments, or the variables NAME=value that are set for it, speak of. It is an
// error when there is no such place. The caller has to call Remove when no server uses it any more.
func PlaceCanary(command, env []string, dir string) (*Canary, error) {
	roots := canaryRoots(slices.Concat(command, env), dir)
	// A server may also take its directories from a file that nobody told us of: the likelier a place is one of them, the
	// later it comes. One may refuse what belongs to the kernel and nothing else, so that /dev/shm is not among the first.
	places := []string{"/var/tmp"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, cache)
	}
	places = append(places, "/dev/shm", os.TempDir())
	reason := errors.New("the server may read every directory that we can write")
	for _, place := range places {
		place, err := filepath.EvalSymlinks(place)
		if err != nil || within(place, roots) {
			continue
		}
		c, err := placeIn(place)
		if err == nil {
			c.placeBeside(NamedRoots(command))
			return c, nil
		}
		reason = err
	}
	return nil, fmt.Errorf("placing a canary file: %w", reason)
}

// canaryRoots returns the directories that the server may read with a right to: those that stand in a text by themselves,
// and those that stand among others, as in NAME=value, a list, a URI or the line of a shell.
func canaryRoots(texts []string, dir string) (roots []string) {
	if dir == "" {
		dir = "."
	}
	between := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("=,:;'\"`()[]{}<>|&", r) }
	paths := []string{dir}
	for _, text := range texts {
		for _, path := range append(strings.FieldsFunc(text, between), text) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			roots = append(roots, path)
		}
	}
	return roots
}

// within reports whether path is one of the roots or lies in one.
func within(path string, roots []string) bool {
	for _, root := range roots {
		rel, err := filepath.Rel(root, path)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
	}
	return false
}

// canaryDir is what the name of the canary's directory begins with.
const canaryDir = "teasel-canary-"

// placeIn makes a directory of our own. Its name is the first that no other campaign uses at this time, so that two runs with the same seed
// send the same, and its length is always the same.
func placeIn(place string) (*Canary, error) {
	for n := range 100 {
		dir := filepath.Join(place, fmt.Sprintf("%s%02d", canaryDir, n))
		c := &Canary{path: filepath.Join(dir, "canary.txt")}
		switch err := c.claim(dir); {
		case errors.Is(err, os.ErrExist):
			continue
		case err != nil:
			return nil, err
		}
		if err := c.write(); err != nil {
			return nil, errors.Join(err, c.Remove())
		}
		return c, nil
	}
	return nil, fmt.Errorf("%s is full of canaries", place)
}

// claim makes a directory and locks it, or empties one that a campaign which was killed has left: the kernel has released its lock. The
// error is [os.ErrExist] if the directory is another's.
func (c *Canary) claim(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !ours(info) {
		return os.ErrExist
	}
	lock, err := os.Open(dir)
	if err != nil {
		return os.ErrExist
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		before, err := lock.Stat()
		if now, also := os.Lstat(dir); err == nil && also == nil && os.SameFile(before, now) { // else its owner has removed it meanwhile
			left, _ := lock.Readdirnames(-1)
			for _, name := range left {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
			}
			c.placed, c.locks = append(c.placed, dir), append(c.locks, lock)
			return err
		}
	}
	lock.Close()
	return os.ErrExist
}

// ours reports whether a file belongs to the user whom we run as.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// NamedRoots returns the directories that stand among a command's arguments by their absolute paths: those that a server is
// most likely to keep to. The program's own is none of them.
func NamedRoots(command []string) (roots []string) {
	for _, arg := range command[min(1, len(command)):] {
		if path, err := filepath.EvalSymlinks(arg); err == nil && filepath.IsAbs(arg) && path != "/" {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				roots = append(roots, path)
			}
		}
	}
	return roots
}

// placeBeside plants what a careless comparison of paths lets through: beside the first of the roots where that can be done
// a directory whose name begins with the root's, and in the root a symbolic link that leads out. Nothing else there is touched.
func (c *Canary) placeBeside(roots []string) {
	for _, root := range roots {
		beside := root + "-" + filepath.Base(c.Dir())
		if c.claim(beside) != nil {
			continue
		}
		c.root = root
		if os.WriteFile(filepath.Join(beside, "canary.txt"), []byte(CanaryText+"\n"), 0o600) == nil {
			c.sibling = filepath.Join(beside, "canary.txt")
			_ = os.WriteFile(filepath.Join(beside, CanaryName), nil, 0o600) // without it, only who reads the file is found
		}
		_ = c.claim(root + CanaryMark + strings.TrimPrefix(filepath.Base(c.Dir()), canaryDir))
		target := c.Dir() + "-linked"
		link := filepath.Join(root, filepath.Base(c.Dir()))
		if c.claim(target) != nil {
			return
		}
		if left, err := os.Readlink(link); err == nil && left == target { // of a campaign that was killed
			_ = os.Remove(link)
		}
		if os.WriteFile(filepath.Join(target, "linked.txt"), []byte(CanaryLinked+"\n"), 0o600) == nil && os.Symlink(target, link) == nil {
			c.link, c.placed = filepath.Join(link, "linked.txt"), append(c.placed, link)
		}
		return
	}
}

func (c *Canary) write() error {
	err := os.WriteFile(c.path, []byte(CanaryText+"\n"), 0o600)
	for _, e := range Extensions {
		err = errors.Join(err, os.WriteFile(c.path+e.Name, fmt.Appendf(nil, e.text, CanaryText), 0o600))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(c.Dir(), CanaryName), nil, 0o600))
}

// Path returns the absolute path of the file.
func (c *Canary) Path() string { return c.path }

// Dir returns the absolute path of the directory that the file is in, with nothing but its like.
func (c *Canary) Dir() string { return filepath.Dir(c.path) }

// Relative returns a path that leads to the file from every directory which is not too deep.
func (c *Canary) Relative() string { return strings.Repeat("../", 16) + c.path[1:] }

// URI returns the file's URI.
func (c *Canary) URI() string { return (&url.URL{Scheme: "file", Path: c.path}).String() }

// Sibling returns the absolute path of a file in a directory beside an allowed one, whose name begins with the name of that;
// "": there is none.
func (c *Canary) Sibling() string { return c.sibling }

// RelativeSibling is Sibling as seen from the allowed directory.
func (c *Canary) RelativeSibling() string {
	if c.sibling == "" {
		return ""
	}
	return "../" + filepath.Base(filepath.Dir(c.sibling)) + "/" + filepath.Base(c.sibling)
}

// Beside returns the directory that Sibling is in; "": there is none.
func (c *Canary) Beside() string {
	if c.sibling == "" {
		return ""
	}
	return filepath.Dir(c.sibling)
}

// Root returns the allowed directory; "": there is nothing beside it.
func (c *Canary) Root() string { return c.root }

// Link returns the path of a file by way of a symbolic link in an allowed directory; "": there is none.
func (c *Canary) Link() string { return c.link }

// Places returns everything that has been placed, to be removed when the canary is no longer needed.
func (c *Canary) Places() []string { return c.placed }

// Environ returns the variables that the server's environment has to have.
func (c *Canary) Environ() []string { return []string{"TEASEL_CANARY_SECRET=" + CanarySecret} }

// Remove removes all that was placed.
func (c *Canary) Remove() (err error) {
	for _, path := range c.Places() {
		err = errors.Join(err, os.RemoveAll(path)) // of a link, the link
	}
	for _, lock := range c.locks {
		err = errors.Join(err, lock.Close())
	}
	return err
}
