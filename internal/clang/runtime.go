package clang

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/sancov"
)

// object is a folder with the compiled runtime.
type object struct{ dir string }

func (r object) file(name string) string { return filepath.Join(r.dir, name) }

// exports are the symbols of the runtime that the program exports to its shared libraries.
const exports = "{ __sanitizer_cov_*; __wrap_*; __afl_*; memcmp; };\n"

// cache returns the folder for compiled runtimes. Distributions often build packages without a home directory: then the folder is
// in the directory for temporary files, and must belong to the current user.
func (c Compiler) cache() (string, error) {
	if c.Cache != "" {
		return c.Cache, nil
	}
	if user, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(user, "teasel")
		if os.MkdirAll(dir, 0o755) == nil && syscall.Access(dir, 2) == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("teasel-cache-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s must belong to the current user and must not be accessible to others; hint: set XDG_CACHE_HOME to another folder", dir)
	}
	return dir, nil
}

// runtime returns the compiled runtime, and compiles it if it is not in the cache.
func (c Compiler) runtime(ctx context.Context, clang string, machine []string) (object, error) {
	cache, err := c.cache()
	if err != nil {
		return object{}, fmt.Errorf("looking for a cache folder: %w", err)
	}
	h := sha256.New()
	machine = append(slices.Clone(machine), fmt.Sprintf("-DTEASEL_PATH=%q", c.Teasel))
	fmt.Fprintf(h, "%s\x00%q\x00%s", clang, machine, exports)
	err = fs.WalkDir(sancov.Runtime, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := sancov.Runtime.ReadFile(name)
		fmt.Fprintf(h, "\x00%s\x00%s", name, b)
		return err
	})
	if err != nil {
		return object{}, fmt.Errorf("reading the runtime: %w", err)
	}
	o := object{filepath.Join(cache, "runtime-"+hex.EncodeToString(h.Sum(nil)[:8]))}
	if _, err := os.Stat(o.file("exports")); err == nil {
		now := time.Now()
		os.Chtimes(o.dir, now, now) // if that fails, the runtime may be pruned and compiled again
		return o, nil
	}
	if err := o.make(ctx, clang, machine); err != nil {
		return object{}, fmt.Errorf("compiling the runtime: %w", err)
	}
	prune(cache, time.Now().Add(-unusedTime))
	return o, nil
}

// unusedTime is how long an unused runtime is kept in the cache.
const unusedTime = 30 * 24 * time.Hour

// prune removes the runtimes, complete or not, that were not used since a time. Errors are ignored: they only cost disk space.
func prune(cache string, before time.Time) {
	for _, kind := range [...]string{"runtime-*", "making-*"} {
		dirs, _ := filepath.Glob(filepath.Join(cache, kind))
		for _, dir := range dirs {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.ModTime().Before(before) {
				os.RemoveAll(dir)
			}
		}
	}
}

// make compiles the runtime in a temporary folder and renames that when it is complete.
func (o object) make(ctx context.Context, clang string, machine []string) (err error) {
	if err := os.MkdirAll(filepath.Dir(o.dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(o.dir), "making-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.CopyFS(tmp, sancov.Runtime); err != nil {
		return err
	}
	for _, name := range [...]string{"teasel_rt", "teasel_main", "teasel_driver", "teasel_defer", "teasel_loop", "teasel_so", "teasel_pad", "teasel_compare"} {
		args := append(slices.Clone(machine), "-O2", "-fPIC", "-fno-builtin", "-x", "c", "-c",
			filepath.Join(tmp, "runtime", name+".c"), "-o", filepath.Join(tmp, name+".o"))
		if out, err := exec.CommandContext(ctx, clang, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
	}
	if err := archive(tmp, entries); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, emptyArchive), []byte(archiveMagic), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "exports"), []byte(exports), 0o644); err != nil {
		return err
	}
	if err := os.Rename(tmp, o.dir); err != nil {
		if _, there := os.Stat(o.dir); there != nil { // another process was faster
			return err
		}
	}
	return nil
}
