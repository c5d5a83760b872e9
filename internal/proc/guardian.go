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

// guardianScript is the shell script of a guardian. It reads the process group to kill and the folders to remove from a pipe,
// until the pipe is closed, which the kernel does when this process ends for whatever reason. Processes that have left the
// group are found by the marker in their environment. The script gets the marker as an argument, so that it does not find
// itself.
const guardianScript = `trap '' HUP INT QUIT TERM
marker=$1 group=
if [ -n "$2" ]; then shift; else shift 2; fi # the remaining arguments are folders
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

// Guardian is a shell process that cleans up if this process ends without calling Close: it kills the processes and removes
// the folders that this process has left behind. It is for one goroutine at a time.
type Guardian struct {
	life *os.File
	cmd  *exec.Cmd
}

// Guard starts a guardian for the processes whose environment contains marker, which may be the prefix of their markers, and
// for a folder to remove after they were killed; "": none. The caller must call Close.
func Guard(marker, folder string) (*Guardian, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a guardian: %w", err)
	}
	defer theirs.Close()
	g := &Guardian{life: ours, cmd: exec.Command("/bin/sh", "-c", guardianScript, "teasel-guardian", marker, folder)}
	g.cmd.Stdin = theirs
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals to our process group must not reach it
	if err := g.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting a guardian: %w", err)
	}
	return g, nil
}

// Watch sets the process group to kill, in place of an earlier one; 0: none.
func (g *Guardian) Watch(group int) error {
	word := "group\n"
	if group > 0 {
		word = fmt.Sprintf("group %d\n", group)
	}
	_, err := g.life.WriteString(word)
	return err
}

// Remove adds a folder, a file or a link to what the guardian removes. The name must not contain a newline.
func (g *Guardian) Remove(folder string) error {
	_, err := g.life.WriteString("folder " + folder + "\n")
	return err
}

// Close ends the guardian, which then kills and removes nothing.
func (g *Guardian) Close() error {
	_, err := g.life.WriteString("quit\n")
	err = errors.Join(err, g.life.Close())
	g.cmd.Wait() // the exit status says nothing
	return err
}

// NewMarker returns a string for the environment, NAME=value, that no other process on this machine has. It may be called
// concurrently.
func NewMarker() string { return newMarker() }

// MarkerPrefix returns the common prefix of the markers of all processes that this process starts. A guardian for the prefix
// covers all of them.
func MarkerPrefix() string { return markerPrefix }

// KillAll kills the session and the descendants of a process that has not been waited for, and every process with the marker
// in its environment. It returns when all of them are gone, or an error with those that could not be killed.
func KillAll(pid int, marker string) error { return (&Process{pid: pid, marker: marker}).killAll() }

// KillOrphans kills the processes that belong to the session of a process, or have the marker, and no longer descend from it:
// those that a run has left behind. It returns their number.
func KillOrphans(pid int, marker string) (count int) {
	all, err := listProcesses(nil)
	if err != nil {
		return 0
	}
	descendants := family(all, pid, false)
	p, self := Process{pid: pid, marker: marker}, os.Getpid()
	for i := range all {
		r := &all[i]
		if r.dead() || r.pid == self || descendants[r.pid] || r.session != pid && p.mark(r.pid) != marked {
			continue
		}
		if syscall.Kill(r.pid, syscall.SIGKILL) == nil {
			count++
		}
	}
	return count
}

// Status is the state of a process as the kernel reports it.
type Status struct {
	Parent  int
	Session int
	Ready   bool          // the process runs or waits for a processor
	Stopped bool          // a signal has stopped it, and it waits to be continued
	RSS     uint64        // resident memory, in bytes
	CPU     time.Duration // processor time used
}

// StatusOf returns the status of a process, and false if there is no such process or it is a zombie. It may be called
// concurrently.
func StatusOf(pid int) (Status, bool) {
	var buf [1024]byte
	r, ok := readStat(pid, buf[:])
	if !ok || r.dead() {
		return Status{}, false
	}
	s := Status{Parent: r.ppid, Session: r.session, Ready: r.state == 'R', Stopped: r.state == 'T', RSS: r.rss}
	s.CPU, _ = ProcessorTime(pid)
	return s, true
}

const addrNoRandomize = 0x40000

// atFixedAddresses calls start with address space layout randomisation switched off for the programs that it starts, where the
// kernel allows that: the behaviour of a target may depend on its addresses.
func atFixedAddresses(start func() error) error {
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
