// Package isolation gives each program that a campaign starts a home and a temporary directory of its own, inside one folder of the campaign
// that is bounded while the campaign runs and removed when it ends, and on demand a sandbox around both.
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

// Config says what a home is for.
type Config struct {
	Scratch string // the campaign's folder, from [Open]; "": the program has our home and temporary directory
	Owner   int    // user number that the program runs as, if we are root and it is another one; 0: ours
	Sandbox *Sandbox
}

// Home is what one program has for itself. The methods of a nil Home do nothing. One goroutine at a time uses it.
type Home struct {
	dir        string
	owner      int
	namespaces *namespaces // nil: there is no sandbox
}

// The folders of a home.
const (
	homeName    = "home"
	tempName    = "tmp"
	runtimeName = "run" // for XDG_RUNTIME_DIR, which is for sockets
)

var folderNames = []string{homeName, tempName, runtimeName}

// Make makes a home. It is nil without an error if neither a folder nor a sandbox is asked for. The caller must call Close when the
// program, and all that it has started, has been waited for.
func Make(c Config) (*Home, error) {
	if c.Scratch == "" {
		if c.Sandbox != nil {
			return nil, errors.New("making a sandbox: it needs a folder for the program's home")
		}
		return nil, nil
	}
	dir, err := makeDir(c.Scratch)
	if err != nil {
		return nil, fmt.Errorf("making a home for a program: %w", err)
	}
	h := &Home{dir: dir, owner: c.Owner}
	if err = h.makeFolders(); err == nil && c.Sandbox != nil {
		h.namespaces, err = newNamespaces(h.dir, c.Sandbox)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// makeDir makes a folder with the lowest number that is free. All names have the same length, so that what programs print of them
// differs in digits only.
func makeDir(scratch string) (string, error) {
	for n := range 10_000 {
		dir := filepath.Join(scratch, fmt.Sprintf("%04d", n))
		err := os.Mkdir(dir, 0o711)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
	return "", fmt.Errorf("%s is full", scratch)
}

// makeFolders makes the folders, in place of whatever else a program has put there: it owns the folder that they are in.
func (h *Home) makeFolders() error {
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return fmt.Errorf("making a home for a program: %w", err)
	}
	defer root.Close()
	for _, name := range folderNames {
		if info, e := root.Lstat(name); e == nil && !info.IsDir() {
			err = root.Remove(name)
		}
		if err == nil {
			if err = root.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		}
		if err == nil && h.owner != 0 {
			err = root.Lchown(name, h.owner, h.owner)
		}
		if err != nil {
			return fmt.Errorf("making a home for a program: %w", err)
		}
	}
	return nil
}

// Dir returns the program's home directory.
func (h *Home) Dir() string { return filepath.Join(h.dir, homeName) }

// Env returns the variables that name the home's folders, to be added to our environment, before those of the user. What package
// managers and toolchains keep in the user's home is named by variables of their own, so that a program which npx or go starts does not
// load everything again.
func (h *Home) Env() []string {
	if h == nil {
		return nil
	}
	home, temp := h.Dir(), filepath.Join(h.dir, tempName)
	env := []string{
		"HOME=" + home, "TMPDIR=" + temp, "TMP=" + temp, "TEMP=" + temp,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local/share"), "XDG_STATE_HOME=" + filepath.Join(home, ".local/state"),
		"XDG_RUNTIME_DIR=" + filepath.Join(h.dir, runtimeName),
	}
	return append(env, cacheEnv(os.LookupEnv)...)
}

// Do calls start on a thread whose children are in the home's sandbox; without one, here.
func (h *Home) Do(start func() error) error {
	if h == nil || h.namespaces == nil {
		return start()
	}
	return h.namespaces.do(start)
}

// On returns [Home.Do] where there is a sandbox, and nil where there is none.
func (h *Home) On() func(start func() error) error {
	if h == nil || h.namespaces == nil {
		return nil
	}
	return h.namespaces.do
}

// Thread returns the number of the thread that Do uses, which has the sandbox's network; 0: there is none.
func (h *Home) Thread() int {
	if h == nil || h.namespaces == nil {
		return 0
	}
	return h.namespaces.thread
}

// Empty removes what the program has left. The program must have ended.
func (h *Home) Empty() error {
	if h == nil {
		return nil
	}
	err := emptyHome(h.dir)
	if h.namespaces != nil {
		err = errors.Join(err, h.namespaces.sweep())
	}
	return errors.Join(err, h.makeFolders())
}

// Close removes the home.
func (h *Home) Close() error {
	if h == nil || h.dir == "" {
		return nil
	}
	var err error
	if h.namespaces != nil {
		err = h.namespaces.close()
		h.namespaces = nil
	}
	err = errors.Join(err, removeAll(h.dir))
	h.dir = ""
	return err
}

// emptyHome removes what is in the folders of a home. A program may have put a link in the place of one, and may do so while we look:
// nothing outside of the home is ever reached.
func emptyHome(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("emptying a program's home: %w", err)
	}
	defer root.Close()
	for _, name := range folderNames {
		if info, e := root.Lstat(name); e != nil || !info.IsDir() {
			continue
		}
		folder, e := root.Open(name)
		if e != nil { // it is gone, or a link to elsewhere by now
			continue
		}
		entries, e := folder.Readdirnames(-1)
		err = errors.Join(err, e, folder.Close())
		for _, entry := range entries {
			err = errors.Join(err, removeIn(root, filepath.Join(name, entry)))
		}
	}
	return err
}

// removeAll removes a file or a folder, also one with folders in it that may not be written to.
func removeAll(path string) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return removeIn(root, filepath.Base(path))
}

// removeIn is removeAll for a path below root.
func removeIn(root *os.Root, path string) error {
	if root.RemoveAll(path) == nil {
		return nil
	}
	permit(root, path)
	return root.RemoveAll(path)
}

// permit lets us remove what is below path: it takes the flags off that forbid it even to root, and lets us write to folders.
func permit(root *os.Root, path string) {
	info, err := root.Lstat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	if info.IsDir() {
		_ = root.Chmod(path, 0o700)
	}
	f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	const forbidding = 0x10 | 0x20 // FS_IMMUTABLE_FL and FS_APPEND_FL of linux/fs.h
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil && flags&forbidding != 0 {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags&^forbidding)
	}
	if !info.IsDir() {
		return
	}
	_ = root.Chmod(path, 0o700)
	entries, _ := f.ReadDir(-1)
	for _, e := range entries {
		permit(root, filepath.Join(path, e.Name()))
	}
}

// caches are the folders below the user's home in which programs keep what they have loaded or installed, and the variables that name
// them. A folder that does not exist is named only if programs make it.
var caches = []struct {
	name, folder string
	made         bool
}{
	{name: "npm_config_cache", folder: ".npm", made: true}, {name: "UV_CACHE_DIR", folder: ".cache/uv", made: true},
	{name: "UV_TOOL_DIR", folder: ".local/share/uv/tools"}, {name: "UV_PYTHON_INSTALL_DIR", folder: ".local/share/uv/python"},
	{name: "PIP_CACHE_DIR", folder: ".cache/pip"}, {name: "PIPX_HOME", folder: ".local/share/pipx"}, {name: "PYTHONUSERBASE", folder: ".local"},
	{name: "PYENV_ROOT", folder: ".pyenv"}, {name: "PNPM_HOME", folder: ".local/share/pnpm"}, {name: "COREPACK_HOME", folder: ".cache/node/corepack"},
	{name: "NVM_DIR", folder: ".nvm"}, {name: "VOLTA_HOME", folder: ".volta"}, {name: "BUN_INSTALL", folder: ".bun"}, {name: "DENO_DIR", folder: ".cache/deno"},
	{name: "GOPATH", folder: "go", made: true}, {name: "GOCACHE", folder: ".cache/go-build", made: true},
	{name: "CARGO_HOME", folder: ".cargo"}, {name: "RUSTUP_HOME", folder: ".rustup"},
	{name: "ASDF_DATA_DIR", folder: ".asdf"}, {name: "MISE_DATA_DIR", folder: ".local/share/mise"}, {name: "RBENV_ROOT", folder: ".rbenv"},
	{name: "NUGET_PACKAGES", folder: ".nuget/packages"}, {name: "HF_HOME", folder: ".cache/huggingface"},
	{name: "PLAYWRIGHT_BROWSERS_PATH", folder: ".cache/ms-playwright"}, {name: "PUPPETEER_CACHE_DIR", folder: ".cache/puppeteer"},
}

// cacheEnv returns the variables of caches that are not set.
func cacheEnv(lookup func(string) (string, bool)) (env []string) {
	home, _ := lookup("HOME")
	if !filepath.IsAbs(home) {
		return nil
	}
	for _, c := range caches {
		if _, set := lookup(c.name); set {
			continue
		}
		path := filepath.Join(home, c.folder)
		if _, err := os.Stat(path); err == nil || c.made {
			env = append(env, c.name+"="+path)
		}
	}
	return env
}

// ScriptHome returns the function own_home of a program in Python: what a server gets that has a home and a temporary directory of its
// own, added to the environment, as [Home.Env] has it. The program needs atexit, os, shutil and tempfile.
func ScriptHome() string {
	var names strings.Builder
	for i, c := range caches {
		if i > 0 {
			names.WriteString(", ")
		}
		fmt.Fprintf(&names, "(%q, %q)", c.name, c.folder)
	}
	return fmt.Sprintf(scriptHome, names.String())
}

const scriptHome = `def own_home():
    """A home and temporary directory of the server's own, which is removed in the end. What package managers keep stays where it is."""
    folder = tempfile.mkdtemp(prefix="home-")
    atexit.register(shutil.rmtree, folder, True)
    os.chmod(folder, 0o777)
    env = {}
    for name, below in [%s]:
        path = os.path.join(os.path.expanduser("~"), below)
        if name not in os.environ and os.path.isdir(path):
            env[name] = path
    for name, below in [("HOME", "home"), ("TMPDIR", "tmp"), ("XDG_CONFIG_HOME", "home/.config"), ("XDG_CACHE_HOME", "home/.cache"),
                        ("XDG_DATA_HOME", "home/.local/share"), ("XDG_STATE_HOME", "home/.local/state"), ("XDG_RUNTIME_DIR", "run")]:
        env[name] = os.path.join(folder, below)
    for below in ["home", "tmp", "run"]:
        os.mkdir(os.path.join(folder, below))
        os.chmod(os.path.join(folder, below), 0o777)
    env["TMP"] = env["TEMP"] = env["TMPDIR"]
    return env
`

// cachePaths returns the folders that [Home.Env] or our own environment name as caches.
func cachePaths() (paths []string) {
	env := cacheEnv(os.LookupEnv)
	for _, c := range caches {
		if value, set := os.LookupEnv(c.name); set {
			env = append(env, c.name+"="+value)
		}
	}
	for _, e := range env {
		if _, path, _ := strings.Cut(e, "="); filepath.IsAbs(path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
