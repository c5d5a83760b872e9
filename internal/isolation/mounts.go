package isolation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// emptyPlaces are empty in a sandbox, and may be written to up to a limit: programs use them without asking the environment.
var emptyPlaces = []string{"/tmp", "/var/tmp", "/dev/shm"}

// hiddenPlaces are empty in a sandbox, and may not be written to: sockets of services are there, and homes.
var hiddenPlaces = []string{"/run", "/root", "/home"}

// emptyOptions limit what is written to one of emptyPlaces, which are in memory.
const emptyOptions = "mode=1777,size=256m"

// devices are in a sandbox's /dev. All others are left out: root may be outside what we are inside, and disks are root's.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// secretFiles can be read by whom root has mapped to itself.
var secretFiles = []string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-"}

// mounts are what a sandbox shows of the file system. Everything is where it is outside, so that paths need no translation.
type mounts struct {
	hidden []string // empty, and not to be written to
	read   []string // shown although a folder above is hidden or empty
	write  []string // the same, and they may be written to
	dir    string   // working directory
}

// plan says what a sandbox shows.
func plan(home string, s *Sandbox) (m mounts, err error) {
	m.dir = s.Dir
	if m.dir == "" {
		if m.dir, err = os.Getwd(); err != nil {
			return m, err
		}
	}
	if m.dir, err = filepath.Abs(m.dir); err != nil {
		return m, err
	}
	users, _ := os.UserHomeDir()
	m.hidden = existing(append(slices.Clone(hiddenPlaces), users))
	m.write = existing(append(slices.Clone(s.Write), home))
	read := append(commandNeeds(s.Args, m.dir), project(m.dir))
	if s.Caches {
		m.write = append(m.write, existing(cachePaths())...)
	} else {
		read = append(read, toolchains(users)...)
	}
	if s.Network {
		read = append(read, "/run/systemd/resolve", "/run/resolvconf")
	}
	for _, path := range existing(read) {
		if m.covered(path) && !slices.ContainsFunc(m.write, func(w string) bool { return within(path, w) }) {
			m.read = append(m.read, path)
		}
	}
	return m, nil
}

// covered reports whether a path is below a place that is hidden or empty. A whole home is never shown.
func (m *mounts) covered(path string) bool {
	covers := slices.Concat(m.hidden, existing(emptyPlaces))
	return slices.ContainsFunc(covers, func(c string) bool { return within(path, c) }) &&
		!slices.ContainsFunc(covers, func(c string) bool { return within(c, path) })
}

// misses reports whether a path that is there outside is not there inside.
func (m *mounts) misses(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	path = realPath(path)
	covers := slices.Concat(m.hidden, existing(emptyPlaces))
	below := slices.ContainsFunc(covers, func(c string) bool { return within(path, c) }) && !slices.Contains(covers, path)
	return below && !slices.ContainsFunc(slices.Concat(m.read, m.write), func(shown string) bool { return within(path, shown) || within(shown, path) })
}

// existing returns the real paths of those that exist, the outermost first, each once.
func existing(paths []string) (real []string) {
	for _, path := range paths {
		if path, err := filepath.Abs(path); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil && path != "/" {
				real = append(real, path)
			}
		}
	}
	slices.Sort(real)
	return slices.Compact(real)
}

// within reports whether path is dir, or in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// tree is a detached copy of a part of the file system, to be attached where it was.
type tree struct {
	path string
	fd   int
	dir  bool
}

// apply changes the mount namespace that the thread is in.
func (m mounts) apply() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating the mounts: %w", err)
	}
	var trees []tree
	defer func() {
		for _, t := range trees {
			unix.Close(t.fd)
		}
	}()
	take := func(path string, attr unix.MountAttr) error {
		t, err := clone(path, attr)
		if err == nil {
			trees = append(trees, t)
		}
		return err
	}
	for _, name := range devices {
		path := filepath.Join("/dev", name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := take(path, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC}); err != nil {
			return err
		}
	}
	for _, path := range m.read {
		if err := take(path, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return err
		}
	}
	for _, path := range m.write {
		if err := take(path, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return err
		}
	}
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("making the system read-only: %w", err)
	}
	if err := m.hide(); err != nil {
		return err
	}
	// What is outermost comes first, and what may be written to behind what may only be read.
	slices.SortStableFunc(trees, func(a, b tree) int { return strings.Compare(a.path, b.path) })
	for _, t := range trees {
		if err := t.attach(); err != nil {
			return err
		}
	}
	if err := unix.Chdir(m.dir); err != nil { // otherwise the thread would be in what is hidden
		return unix.Chdir("/")
	}
	return nil
}

// clone copies a part of the file system, with what is mounted in it.
func clone(path string, attr unix.MountAttr) (t tree, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return t, err
	}
	t = tree{path: path, dir: info.IsDir()}
	if t.fd, err = unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE); err != nil {
		return t, fmt.Errorf("showing %s: %w", path, err)
	}
	if err = unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		unix.Close(t.fd)
		return t, fmt.Errorf("showing %s: %w", path, err)
	}
	return t, nil
}

// attach mounts the tree where it was, also in a folder that is empty now.
func (t tree) attach() error {
	err := os.MkdirAll(filepath.Dir(t.path), 0o755)
	if err == nil && t.dir {
		err = os.MkdirAll(t.path, 0o755)
	} else if err == nil {
		if _, e := os.Lstat(t.path); errors.Is(e, fs.ErrNotExist) {
			err = os.WriteFile(t.path, nil, 0o600)
		}
	}
	if err == nil {
		err = unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
	}
	if err != nil {
		return fmt.Errorf("showing %s: %w", t.path, err)
	}
	return nil
}

// hide covers what a program may not see.
func (m mounts) hide() error {
	cover := func(path, options string) error {
		if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("hiding %s: %w", path, err)
		}
		return nil
	}
	if err := cover("/dev", "mode=755,size=64k"); err != nil {
		return err
	}
	for _, link := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}} {
		if err := os.Symlink(link[0], filepath.Join("/dev", link[1])); err != nil {
			return err
		}
	}
	if err := os.Mkdir("/dev/shm", 0o1777); err != nil {
		return err
	}
	for _, path := range existing(emptyPlaces) {
		if err := cover(path, emptyOptions); err != nil {
			return err
		}
	}
	for _, path := range m.hidden {
		if _, err := os.Stat(path); err != nil { // it was in another one
			continue
		}
		if err := cover(path, "mode=755,size=1m"); err != nil {
			return err
		}
	}
	return nil
}

// protect makes read-only what has been covered, and the part of the new /proc with which root controls the kernel.
func (m mounts) protect() error {
	read := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}
	for _, path := range existing([]string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
		t, err := clone(path, read)
		if err != nil {
			return err
		}
		err = t.attach()
		unix.Close(t.fd)
		if err != nil {
			return err
		}
	}
	for _, path := range existing(secretFiles) {
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hiding %s: %w", path, err)
		}
	}
	only := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, path := range append([]string{"/dev"}, m.hidden...) {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &only); err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: it is in another one, and no mount
			return fmt.Errorf("hiding %s: %w", path, err)
		}
	}
	return nil
}

// emptyFiles removes what is in a folder, but for what is mounted there: that is the user's.
func emptyFiles(dir string) (err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there is no such place here
	}
	var here, there unix.Stat_t
	if err := unix.Lstat(dir, &here); err != nil {
		return fmt.Errorf("emptying %s: %w", dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if unix.Lstat(path, &there) != nil || there.Dev != here.Dev {
			continue
		}
		if e.IsDir() {
			err = errors.Join(err, emptyFiles(path))
		}
		if e := unix.Unlink(path); errors.Is(e, unix.EISDIR) {
			_ = unix.Rmdir(path) // ENOTEMPTY: something is mounted below
		}
	}
	return err
}
