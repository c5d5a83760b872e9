package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// vigil is what the guardian runs. It reads which group and folders are ours until the pipe ends, which it does when we are
// gone, however we went. The marker finds what has left the group: it is an argument here, and in nobody's environment but
// of those it is to find.
const vigil = `trap '' HUP INT QUIT TERM
marker=$1 group=
if [ -n "$2" ]; then shift; else shift 2; fi # what is left are folders
while read -r word value; do
	case $word in
	group) group=$value ;;
	folder) set -- "$@" "$value" ;;
	quit) exit 0 ;;
	esac
done
if [ -n "$group" ]; then kill -9 -- "-$group" 2>/dev/null; fi
for round in 1 2 3 4 5 6 7 8; do
	found=
	for file in $(grep -lsF -- "$marker" /proc/[0-9]*/environ); do
		pid=${file#/proc/}
		kill -9 "${pid%/environ}" 2>/dev/null && found=1
	done
	if [ -z "$found" ]; then break; fi
done
if [ $# -gt 0 ]; then rm -rf -- "$@"; fi
`

// Guardian is a small shell that does nothing until this process has ended without closing it. Then it kills what we have
// left behind. One goroutine at a time uses it.
type Guardian struct {
	life *os.File
	cmd  *exec.Cmd
}

// Guard starts a guardian of the processes whose environment has the marker, or one that begins like it, and of a folder
// that is to be removed with them, "" for none.
func Guard(marker, folder string) (*Guardian, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a guardian: %w", err)
	}
	defer theirs.Close()
	g := &Guardian{life: ours, cmd: exec.Command("/bin/sh", "-c", vigil, "teasel-guardian", marker, folder)}
	g.cmd.Stdin = theirs
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what is sent to our group is not meant for it
	if err := g.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting a guardian: %w", err)
	}
	return g, nil
}

// Watch says which process group is to be killed; 0: none.
func (g *Guardian) Watch(group int) error {
	word := "group\n"
	if group > 0 {
		word = fmt.Sprintf("group %d\n", group)
	}
	_, err := g.life.WriteString(word)
	return err
}

// Remove says that a folder, a file or a link is to be removed, too.
func (g *Guardian) Remove(folder string) error {
	_, err := g.life.WriteString("folder " + folder + "\n")
	return err
}

// Close ends the guardian, which then kills nothing.
func (g *Guardian) Close() error {
	_, err := g.life.WriteString("quit\n")
	err = errors.Join(err, g.life.Close())
	g.cmd.Wait() // how it ends says nothing
	return err
}

// NewMarker returns a value for the environment, NAME=value, that no other process on this machine has.
func NewMarker() string { return newMarker() }

// Kin returns how the markers of everything begin that this process starts. A guardian of it is one of all.
func Kin() string { return kin }

// KillAll kills the session and the descendants of a process that has not been waited for, and whatever has the marker
// in its environment. It returns when all of it is gone; an error says what would not go.
func KillAll(pid int, marker string) error { return (&Process{pid: pid, marker: marker}).killAll() }

// KillStrays kills what belongs to the session of a process, or has the marker, and no longer descends from it: what a
// run has left behind. It returns how many there were.
func KillStrays(pid int, marker string) (count int) {
	all, err := census(nil)
	if err != nil {
		return 0
	}
	family := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for i := range all {
			if r := &all[i]; !family[r.pid] && family[r.ppid] {
				family[r.pid], grown = true, true
			}
		}
	}
	p, self := Process{pid: pid, marker: marker}, os.Getpid()
	for i := range all {
		r := &all[i]
		if r.dead() || r.pid == self || family[r.pid] || r.session != pid && p.mark(r.pid) != marked {
			continue
		}
		if syscall.Kill(r.pid, syscall.SIGKILL) == nil {
			count++
		}
	}
	return count
}

// Sight is what the kernel says of a process.
type Sight struct {
	Parent  int
	Session int
	Ready   bool          // it runs, or would if there were a processor for it
	RSS     uint64        // bytes
	CPU     time.Duration // it has used
}

// Look returns what the kernel says of a process; false: it is gone, or as good as gone.
func Look(pid int) (Sight, bool) {
	var buf [1024]byte
	r, ok := look(pid, buf[:])
	if !ok || r.dead() {
		return Sight{}, false
	}
	s := Sight{Parent: r.ppid, Session: r.session, Ready: r.state == 'R', RSS: r.rss}
	s.CPU, _ = processorTime(pid)
	return s, true
}

const addrNoRandomize = 0x40000

// AtFixedAddresses calls start with addresses of the programs it starts that do not change from one start to the next,
// where the kernel lets us: what a target does may depend on them.
func AtFixedAddresses(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, _, errno := syscall.RawSyscall(syscall.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno == 0 {
		if _, _, errno = syscall.RawSyscall(syscall.SYS_PERSONALITY, old|addrNoRandomize, 0, 0); errno == 0 {
			defer syscall.RawSyscall(syscall.SYS_PERSONALITY, old, 0, 0)
		}
	}
	return start()
}
