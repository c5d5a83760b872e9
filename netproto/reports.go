package netproto

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/glob"
)

// Daemons close standard error, or send it to /dev/null or a log of theirs, once they are up; what a sanitizer has to say is
// lost then. Such a server is started with the sanitizers' option log_path, and the files that they write are read in place of
// what it would have written to standard error.

const (
	// reportPrefix is what the files are called in the server's folder, before a full stop and the number of the process.
	reportPrefix = "teasel-sanitizer"
	reportOption = "log_path={dir}/" + reportPrefix
	mostReport   = 64 << 10 // bytes that are read of one file: reports have what matters at the beginning
)

// reports are the files into which the sanitizers of a server write.
type reports struct {
	dir     string
	changed time.Time        // of the folder, when it was last looked at
	read    map[string]int64 // files, and how much of each is known
}

// detached reports whether a process has given up the pipe that it was started with as standard error.
func detached(pid int) bool {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", pid))
	if err != nil { // closed, or not for us to see
		return os.IsNotExist(err)
	}
	return !strings.HasPrefix(to, "pipe:")
}

// renew takes in that the server's folder was emptied.
func (r *reports) renew() {
	if r != nil {
		r.changed, r.read = time.Time{}, map[string]int64{}
	}
}

// take returns what was written since the last call. Of a file that has just come the folder's time may not tell yet: fallen
// says that a process has ended, so that it is worth a look in any case. A nil reports has none.
func (r *reports) take(fallen bool) (text []byte) {
	if r == nil {
		return nil
	}
	if at, err := os.Stat(r.dir); err == nil && (fallen || !at.ModTime().Equal(r.changed)) {
		r.changed = at.ModTime()
		found, _ := filepath.Glob(filepath.Join(glob.Escape(r.dir), reportPrefix+".*"))
		for _, name := range found {
			r.read[name] += 0
		}
	}
	for name, known := range r.read {
		if at, err := os.Stat(name); err != nil || at.Size() <= known {
			continue
		}
		all, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		text = append(text, all[min(known, int64(len(all))):min(len(all), int(known)+mostReport)]...)
		r.read[name] = int64(len(all))
	}
	return text
}
