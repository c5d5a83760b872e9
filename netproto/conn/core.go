package conn

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/glob"
)

// mostCore is how large the kernel may make the memory image of a server that dies. What matters, registers and stack, is
// near the beginning of most.
const mostCore = 64 << 20

// withCore returns the arguments that start a program so that the kernel writes an image of its memory into its folder when it
// dies of a signal, where that is what this machine does with them. Without a sanitizer nothing else says where a server has
// died. It is a shell that sets the limit and becomes the program: we may not set that of another user's process.
func withCore(args []string) []string {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/@") { // somebody else gets them
		return args
	}
	const blocks = mostCore / 512 // which is what a shell counts in
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -S -c %d 2>/dev/null; exec "$@"`, blocks), "sh"}, args...)
}

// Cores returns the files in which the kernel has kept the memory of processes of the server that a signal has ended.
func (s *Server) Cores() []string {
	images, _ := filepath.Glob(filepath.Join(glob.Escape(s.workFolder()), "core*"))
	return slices.DeleteFunc(images, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.Mode().IsRegular()
	})
}

// Fallen returns the files of [Server.Cores] if a process that the server had forked has ended since the last call, and the
// folder is the server's own: the caller reads and removes them.
func (s *Server) Fallen() []string {
	ended := s.quiet.EndedCount()
	if ended == s.fallen || s.command.Dir != "" {
		return nil
	}
	s.fallen = ended
	return s.Cores()
}

// workFolder is where the server was started.
func (s *Server) workFolder() string {
	if s.command.Dir == "" {
		return s.place.Dir
	}
	return s.place.fill(s.command.Dir)
}
