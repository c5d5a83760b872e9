package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Toolchain is the go command that a directory's module is built with.
type Toolchain struct {
	Root     string // GOROOT
	Version  string // for example go1.26.8
	Cache    string // GOCACHE
	Flags    string // GOFLAGS
	ModCache string // GOMODCACHE
	Module   string // the go.mod file; "": none
	Work     string // the go.work file; "": none

	command string   // path of the go command
	env     []string // added to our own environment
}

// GoError is a go command that failed. What it said on standard error is for the user.
type GoError struct {
	Arguments []string
	Stderr    string
	Err       error
}

func (e *GoError) Error() string {
	text := fmt.Sprintf("go %s: %v", strings.Join(e.Arguments, " "), e.Err)
	if e.Stderr != "" {
		text += "\n" + strings.TrimRight(e.Stderr, "\n")
	}
	return text
}

func (e *GoError) Unwrap() error { return e.Err }

// FindToolchain asks the go command that is in PATH which toolchain it uses in dir.
func FindToolchain(ctx context.Context, dir string) (*Toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("looking for the go command: %w", err)
	}
	t := &Toolchain{command: path}
	out, err := t.Run(ctx, dir, "env", "-json", "GOROOT", "GOVERSION", "GOCACHE", "GOFLAGS", "GOMODCACHE", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	var env struct{ GOROOT, GOVERSION, GOCACHE, GOFLAGS, GOMODCACHE, GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("reading go env: %w", err)
	}
	t.Root, t.Version, t.Cache, t.Flags, t.ModCache, t.Work = env.GOROOT, env.GOVERSION, env.GOCACHE, env.GOFLAGS, env.GOMODCACHE, env.GOWORK
	if env.GOMOD != os.DevNull {
		t.Module = env.GOMOD
	}
	return t, nil
}

// Run runs the go command in dir and returns what it writes to standard output. A failure is a [GoError].
func (t *Toolchain) Run(ctx context.Context, dir string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.command, arguments...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PWD="+dir), t.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), &GoError{arguments, stderr.String(), err}
	}
	return stdout.Bytes(), nil
}

// settle gives a toolchain that Go has downloaded a path outside of the module cache: from version 1.25 on, the go command
// refuses to replace files there.
func (t *Toolchain) settle(cache string) error {
	if t.ModCache == "" || !strings.HasPrefix(t.Root, t.ModCache+string(filepath.Separator)) {
		return nil
	}
	link := filepath.Join(cache, t.Version)
	if to, err := os.Readlink(link); err != nil || to != t.Root {
		if err := os.MkdirAll(cache, 0o755); err != nil {
			return fmt.Errorf("linking the toolchain: %w", err)
		}
		temporary := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err := errors.Join(os.Symlink(t.Root, temporary), os.Rename(temporary, link)); err != nil {
			return fmt.Errorf("linking the toolchain: %w", err)
		}
	}
	t.Root, t.command = link, filepath.Join(link, "bin", "go")
	t.env = append(t.env, "GOROOT="+link, "GOTOOLCHAIN=local")
	return nil
}

// userOverlay returns what the user's own GOFLAGS replace.
func (t *Toolchain) userOverlay() (map[string]string, error) {
	var file string
	for _, flag := range strings.Fields(t.Flags) {
		flag = strings.Trim(flag, `"'`)
		if name, ok := strings.CutPrefix(strings.TrimPrefix(flag, "-"), "-overlay="); ok {
			file = name
		} else if name, ok := strings.CutPrefix(flag, "-overlay="); ok {
			file = name
		}
	}
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the overlay of GOFLAGS: %w", err)
	}
	var o replacements
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("reading the overlay of GOFLAGS: %s: %w", file, err)
	}
	return o.Replace, nil
}

// replacements is the format of the flag -overlay.
type replacements struct{ Replace map[string]string }
