package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// share is a control group whose processes together get a part of one core.
type share struct{ dir string }

const (
	sharePeriod = 100_000 // microseconds
	unified     = "/sys/fs/cgroup"
	legacy      = "/sys/fs/cgroup/cpu"
)

// newShare makes a group, of version 2 or, where the cpu controller is not there, of version 1. how names the file that limits it.
func newShare(name string, cores float64) (s share, how string, err error) {
	quota := int(cores * sharePeriod)
	name = fmt.Sprintf("teasel-bench-%d-%s", os.Getpid(), name)
	for _, v := range []struct{ parent, file, limit string }{
		{unified, "cpu.max", fmt.Sprintf("%d %d", quota, sharePeriod)},
		{legacy, "cpu.cfs_quota_us", strconv.Itoa(quota)}, // the period is 100 ms unless somebody says otherwise
	} {
		s.dir = filepath.Join(v.parent, name)
		if err := os.Mkdir(s.dir, 0o755); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.dir, v.file)); err == nil {
			return s, v.file, os.WriteFile(filepath.Join(s.dir, v.file), []byte(v.limit), 0o644)
		}
		_ = s.remove()
	}
	return s, "", errors.New("making a control group that limits processor time: run it as root, or where this user may make groups with the cpu controller below " + unified)
}

// command returns a command whose process, and all that it starts, are in the group.
func (s share) command(program string, args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, s.dir, program}, args...)...)
}

// remove removes the group, whose processes must have ended.
func (s share) remove() error { return os.Remove(s.dir) }
