package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel/view"
)

// terminal is a pseudo-terminal of the kernel's of 100 columns and 30 lines.
type terminal struct {
	master, slave *os.File

	mu   sync.Mutex
	text strings.Builder
}

// opened keeps terminals from being closed: the library's reader may be about to look at one when Run has ended. They end with the tests.
var opened []*os.File

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	if raceDetector {
		t.Skip("muesli/cancelreader 0.2.2 races with its own end, which the race detector reports: not with -race")
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, number int32
	size := [4]uint16{30, 100}
	for request, arg := range map[uintptr]unsafe.Pointer{syscall.TIOCSPTLCK: unsafe.Pointer(&unlock), syscall.TIOCGPTN: unsafe.Pointer(&number), syscall.TIOCSWINSZ: unsafe.Pointer(&size)} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(arg)); errno != 0 {
			t.Skipf("no pseudo-terminals: %v", errno)
		}
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	opened = append(opened, slave)
	return &terminal{master: master, slave: slave}
}

// read takes what is written, for ever.
func (m *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := m.master.Read(buf)
		if err != nil {
			return
		}
		m.mu.Lock()
		m.text.Write(buf[:n])
		m.mu.Unlock()
	}
}

func (m *terminal) await(t *testing.T, what string) {
	t.Helper()
	for range 6000 {
		m.mu.Lock()
		ok := strings.Contains(m.text.String(), what)
		m.mu.Unlock()
		if ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %q in %q", what, m.text.String())
}

// flipping is a campaign whose pictures differ in every place, so that each of them is written.
type flipping struct {
	mu     sync.Mutex
	looked int
	said   []string
}

func (f *flipping) Snapshot() view.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked++
	return view.State{Kind: "go", Running: true, Status: "running", Target: strings.Repeat(string(rune('a'+f.looked%26)), 200),
		Log: []view.Line{{Kind: "note", Text: strings.Repeat(string(rune('A'+f.looked%26)), 200)}}}
}

func (f *flipping) Pause(on bool) {
	f.mu.Lock()
	f.said = append(f.said, fmt.Sprint("pause ", on))
	f.mu.Unlock()
}
func (f *flipping) Stop() { f.mu.Lock(); f.said = append(f.said, "stop"); f.mu.Unlock() }

// On a terminal the screen takes keys, and leaves everything as it was.
func TestRun(t *testing.T) {
	m := newTerminal(t)
	go m.read()
	f := &flipping{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, f, f, Options{In: m.slave, Out: m.slave, Every: 20 * time.Millisecond}) }()
	m.await(t, "\x1b[?1049h") // the alternate screen
	m.await(t, "running")
	for _, c := range "pq?" {
		fmt.Fprint(m.master, string(c))
	}
	m.await(t, "the next panel")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	m.await(t, "\x1b[?1049l")
	if got := strings.Join(f.said, " "); got != "pause true stop" {
		t.Errorf("the keys p and q have said %q", got)
	}
}

// A terminal that nobody reads holds up neither the campaign nor its end.
func TestNobodyReads(t *testing.T) {
	m := newTerminal(t)
	f := &flipping{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, f, f, Options{In: m.slave, Out: m.slave, Every: time.Millisecond}) }()
	for last, same := -1, 0; same < 30; time.Sleep(50 * time.Millisecond) { // until the terminal takes no more, and no picture is made
		f.mu.Lock()
		now := f.looked
		f.mu.Unlock()
		if same++; now != last || now < 10 {
			last, same = now, 0
		}
		if now > 5000 {
			t.Skip("this terminal takes whatever is written")
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, ErrStalled) {
		t.Errorf("it ended with %v", err)
	}
	go m.read() // so that the goroutine that still writes ends
}
