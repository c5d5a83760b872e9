package conn

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// Usage is what a server holds.
type Usage struct {
	Memory uint64 // bytes of its processes that are in memory
	Files  int    // open files of the process that was started
}

// Usage asks the kernel what the server holds: some ten microseconds for each of its processes.
func (s *Server) Usage() (u Usage) {
	for _, pid := range s.quiet.Processes() {
		u.Memory += resident(pid)
	}
	u.Files = OpenFiles(s.process.PID())
	return u
}

// OpenFiles returns how many files a process has open; 0: we may not know.
func OpenFiles(pid int) int {
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(fds)
}

// resident is how much of a process is in memory. Where we may see it, it is what the kernel counts anew; what stat has may be
// a hundred pages behind.
func resident(pid int) uint64 {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
		_, after, _ := strings.Cut(string(text), "\nRss:")
		if f := strings.Fields(after); len(f) > 0 {
			if n, err := strconv.ParseUint(f[0], 10, 64); err == nil {
				return n << 10
			}
		}
	}
	status, _ := proc.StatusOf(pid)
	return status.RSS
}

// Unreaped returns how many processes have ended that the server had forked and has not waited for.
func (s *Server) Unreaped() int { return s.quiet.Unreaped() }

// Programs returns the files that the server's processes run, as far as we may know.
func (s *Server) Programs() (paths []string) {
	for _, pid := range s.quiet.Processes() {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
