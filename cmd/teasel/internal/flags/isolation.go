package flags

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/isolation"
)

// Isolation says what keeps the programs under test apart from the user's own files and from other programs. It is stored with the campaign
// and with the target of each finding.
type Isolation struct {
	KeepHome bool     `json:"keep_home,omitempty"`
	Sandbox  bool     `json:"sandbox,omitempty"`
	Allowed  []string `json:"sandbox_allow,omitempty"` // paths are absolute
}

// addIsolation gives a command the flags.
func addIsolation(f *pflag.FlagSet, i *Isolation, scratch *Size) {
	*scratch = defaultScratch
	f.BoolVar(&i.KeepHome, "keep-home", false, "programs under test use your home and temporary directory, instead of empty ones that are removed at the end")
	f.Var(scratch, "max-scratch", "bytes that they may write to their own ones: the largest is emptied when there is more; 0: no limit")
	f.BoolVar(&i.Sandbox, "sandbox", false, "run programs under test in a sandbox: the system read-only, no network but a loopback interface of their own, no other processes")
	f.StringSliceVar(&i.Allowed, "sandbox-allow", nil, "what the sandbox is opened for: net, cache (those of npm, uv, Go and others, which are installed to), or a path that may be written to; may be given several times")
	SetGroup(f, "Safety", "keep-home", "max-scratch", "sandbox", "sandbox-allow")
}

const defaultScratch = 1 << 30

// CheckIsolation refuses what makes no sense, and makes paths absolute.
func (i *Isolation) CheckIsolation() error {
	if len(i.Allowed) > 0 && !i.Sandbox {
		return exit.Usage("add --sandbox", "--sandbox-allow %s: there is no sandbox to open", strings.Join(i.Allowed, ","))
	}
	if i.Sandbox && i.KeepHome {
		return exit.Usage("to let programs write to a folder: --sandbox-allow PATH", "--sandbox and --keep-home exclude one another: a sandbox hides your home")
	}
	for n, word := range i.Allowed {
		if word == isolation.AllowNetwork || word == isolation.AllowCaches {
			continue
		}
		path, err := absolute(word)
		if err != nil {
			return exit.Usage("expected net, cache, or the path of a file or folder that exists", "--sandbox-allow %s: %w", word, err)
		}
		i.Allowed[n] = path
	}
	return nil
}

func absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("it is empty")
	}
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
