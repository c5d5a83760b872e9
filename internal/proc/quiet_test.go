package proc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// serverMode is set where the test binary is to be a program that is looked at.
const serverMode = "TEASEL_TEST_SERVER"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(serverMode); mode {
	case "":
		os.Exit(m.Run())
	case "lines":
		answerLines()
	default:
		waitBy(mode)
	}
}

// answerLines answers each line, in the way that it names.
func answerLines() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "turn":
			done := make(chan bool)
			go func() { done <- true }()
			<-done
		case "file":
			_, _ = os.ReadFile(os.Args[0] + ".go") // that there is none takes the system as long
		case "timer":
			<-time.After(5 * time.Millisecond)
		}
		fmt.Print("ok\n")
	}
}

// waits are the ways to wait that have a timeout, with the arguments of the system call.
var waits = map[string]func(timeout *unix.Timespec, milliseconds int) [7]uintptr{
	"futex": func(t *unix.Timespec, _ int) [7]uintptr {
		return [7]uintptr{unix.SYS_FUTEX, pointer(new(uint32)), 0, 0, pointer(t)}
	},
	"futex until": func(t *unix.Timespec, _ int) [7]uintptr {
		return [7]uintptr{unix.SYS_FUTEX, pointer(new(uint32)), futexWaitBitset | 128, 0, pointer(after(unix.CLOCK_MONOTONIC, t)), 0, 1}
	},
	"futex until the time of day": func(t *unix.Timespec, _ int) [7]uintptr {
		return [7]uintptr{unix.SYS_FUTEX, pointer(new(uint32)), futexWaitBitset | 128 | futexRealtime, 0, pointer(after(unix.CLOCK_REALTIME, t)), 0, 1}
	},
	"epoll_pwait": func(_ *unix.Timespec, ms int) [7]uintptr {
		return [7]uintptr{unix.SYS_EPOLL_PWAIT, epoll(), pointer(new(unix.EpollEvent)), 1, uintptr(ms)}
	},
	"epoll_pwait2": func(t *unix.Timespec, _ int) [7]uintptr {
		return [7]uintptr{unix.SYS_EPOLL_PWAIT2, epoll(), pointer(new(unix.EpollEvent)), 1, pointer(t)}
	},
	"ppoll":    func(t *unix.Timespec, _ int) [7]uintptr { return [7]uintptr{unix.SYS_PPOLL, 0, 0, pointer(t)} },
	"pselect6": func(t *unix.Timespec, _ int) [7]uintptr { return [7]uintptr{unix.SYS_PSELECT6, 0, 0, 0, 0, pointer(t)} },
	"rt_sigtimedwait": func(t *unix.Timespec, _ int) [7]uintptr {
		return [7]uintptr{unix.SYS_RT_SIGTIMEDWAIT, pointer(new(uint64)), 0, pointer(t), 8}
	},
}

// kept keeps what is handed to the kernel.
var kept []any

func pointer[T any](p *T) uintptr {
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

func epoll() uintptr {
	fd, err := unix.EpollCreate1(0)
	if err != nil {
		panic(err)
	}
	return uintptr(fd)
}

// after is the time of a clock when t has passed.
func after(clock int32, t *unix.Timespec) *unix.Timespec {
	var now unix.Timespec
	if t == nil || unix.ClockGettime(clock, &now) != nil {
		return t
	}
	return &unix.Timespec{Sec: now.Sec + t.Sec, Nsec: now.Nsec}
}

// The timeouts of waitBy, in the arguments: none, one that is waited for, one that is not.
var timeouts = map[string]Activity{"0": Asleep, "30": Waiting, "600": Asleep}

// waitBy waits in a system call.
func waitBy(name string) {
	timeout, milliseconds := &unix.Timespec{}, -1
	if _, err := fmt.Sscan(os.Args[1], &timeout.Sec); err != nil {
		panic(err)
	}
	if milliseconds = int(timeout.Sec) * 1000; timeout.Sec == 0 {
		timeout, milliseconds = nil, -1
	}
	a := waits[name](timeout, milliseconds)
	fmt.Print("ok\n")
	_, _, err := unix.Syscall6(a[0], a[1], a[2], a[3], a[4], a[5], a[6])
	panic(err)
}

// program starts a program and waits until it has answered.
func program(t testing.TB, c Command, ask string) (*Process, *bufio.Reader) {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	r := bufio.NewReader(p.Stdout)
	if _, err := p.Stdin.WriteString(ask); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); line != "ok\n" {
		text, _ := p.Stderr(0)
		t.Fatalf("the program answers %q, %v\n%s", line, err, text)
	}
	return p, r
}

func quietOf(t testing.TB, p *Process) *Quiet {
	q := NewQuiet(p.PID())
	q.Horizon = time.Minute
	t.Cleanup(q.Close)
	return q
}

// lookUntil looks until the program was seen doing the same so many times in a row.
func lookUntil(t *testing.T, q *Quiet, want Activity, times int) {
	t.Helper()
	row := 0
	eventually(t, fmt.Sprintf("the program is %v", want), func() bool {
		if row++; q.Look() != want {
			row = 0
		}
		return row == times
	})
}

// A thread that is in a system call with a timeout waits for a timer, unless that is long.
func TestQuietTimeouts(t *testing.T) {
	for name := range waits {
		for timeout, want := range timeouts {
			t.Run(name+" "+timeout, func(t *testing.T) {
				t.Parallel()
				p, _ := program(t, Command{Args: []string{os.Args[0], timeout}, Env: []string{serverMode + "=" + name}}, "")
				lookUntil(t, quietOf(t, p), want, 20)
			})
		}
	}
}

// A program that has ended has, also when it is looked at again, and after Close.
func TestQuietEnded(t *testing.T) {
	p, _ := program(t, Command{Args: []string{"sh", "-c", "read line; echo ok; read line; exit 3"}}, "now\n")
	q := quietOf(t, p)
	lookUntil(t, q, Asleep, 1)
	if pids := q.Processes(); !slices.Equal(pids, []int{p.PID()}) {
		t.Errorf("the processes are %v, want %d", pids, p.PID())
	}
	p.Stdin.Close()
	lookUntil(t, q, Ended, 20)
	q.Close()
	lookUntil(t, q, Ended, 2)
}

// A target is a program that answers each line, in the way that it names.
type target struct {
	name    string
	command []string
	env     []string
	sorts   []string // that need no clock
	slow    []string // that wait 5 ms before they answer
}

// forks is a shell script that has other processes do the work.
const forks = `while read sort; do
	case $sort in
	turn) (:) ;;
	file) cat /dev/null | cat ;;
	timer) sleep 0.005 ;;
	esac
	echo ok
done`

func targets(t testing.TB) []target {
	t.Helper()
	plain := []string{"now", "turn", "file"}
	return []target{
		{"node", []string{"node", "testdata/server.js"}, nil, plain, []string{"timer"}},
		{"node with an interval", []string{"node", "testdata/server.js", "interval"}, nil, plain, []string{"timer"}},
		{"python", []string{"python3", "testdata/server.py"}, nil, plain, []string{"timer", "sleep", "lock"}},
		{"go", []string{os.Args[0]}, []string{serverMode + "=lines", "GORACE=atexit_sleep_ms=0"}, plain, []string{"timer"}},
		{"sh", []string{"sh", "-c", forks}, nil, plain, []string{"timer"}},
		{"java", []string{"java", "testdata/Server.java", "testdata/Server.java"}, nil, plain, []string{"timer", "sleep"}},
	}
}

func (g *target) start(t testing.TB) (*Process, *bufio.Reader) {
	t.Helper()
	if _, err := exec.LookPath(g.command[0]); err != nil {
		t.Skipf("skipped: %s is not installed", g.command[0])
	}
	return program(t, Command{Args: g.command, Env: g.env}, "now\n")
}

// exchange sends a line and looks until there is an answer or the program is asleep. It returns how often it was seen waiting.
func exchange(t testing.TB, p *Process, r *bufio.Reader, q *Quiet, sort string) (waiting int, early bool) {
	t.Helper()
	if _, err := p.Stdin.WriteString(sort + "\n"); err != nil {
		t.Fatal(err)
	}
	fd := descriptor(t, p)
	for answered := false; !answered; {
		a := q.Look()
		answered = readable(fd)
		switch {
		case a == Waiting:
			waiting++
		case a == Ended:
			t.Fatal("the program has ended")
		case a == Asleep && !answered:
			early, answered = true, true
		}
		runtime.Gosched()
	}
	if line, err := r.ReadString('\n'); line != "ok\n" {
		t.Fatalf("the program answers %q, %v", line, err)
	}
	return waiting, early
}

// descriptor returns the number of the pipe that answers come from, which p keeps open.
func descriptor(t testing.TB, p *Process) (number int) {
	t.Helper()
	c, err := p.Stdout.SyscallConn()
	if err == nil {
		err = c.Control(func(fd uintptr) { number = int(fd) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// A program is never asleep before it has answered, and it is waiting while a timer runs.
func TestQuietBeforeAnswer(t *testing.T) {
	requests, slow := 1000, 200
	if testing.Short() {
		requests, slow = 200, 20
	}
	for _, g := range targets(t) {
		t.Run(g.name, func(t *testing.T) {
			p, r := g.start(t)
			q := quietOf(t, p)
			if g.name == "java" || g.name == "node with an interval" { // these have threads that wait for timers for ever
				for range 3 {
					q.Rested()
					exchange(t, p, r, q, "now")
				}
			}
			for _, sort := range append(g.sorts, g.slow...) {
				n, timed := requests, slices.Contains(g.slow, sort)
				if timed {
					n = slow
				}
				waiting, early := 0, 0
				for range n {
					w, e := exchange(t, p, r, q, sort)
					if waiting += w; e {
						early++
					}
				}
				if early > 0 {
					t.Errorf("%s: of %d answers %d came after the program was seen asleep", sort, n, early)
				}
				if waiting == 0 && timed && g.name != "java" { // which compiles at the same time, and is awake
					t.Errorf("%s: the program was never seen waiting before %d answers", sort, n)
				}
			}
		})
	}
}

// A program whose threads wait for timers for ever is asleep once these have been waited for without result.
func TestQuietFruitless(t *testing.T) {
	for _, g := range targets(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			p, _ := g.start(t)
			q := quietOf(t, p)
			tries := 0
			eventually(t, "the program is asleep", func() bool {
				time.Sleep(20 * time.Millisecond)
				a := q.Look()
				if a == Waiting {
					q.Fruitless()
					tries++
				}
				return a == Asleep
			})
			t.Log(tries, "waits without result")
		})
	}
}

// Settle waits for the clock that a handler waits for.
func TestQuietSettle(t *testing.T) {
	for _, g := range targets(t)[:1] {
		p, r := g.start(t)
		fd := descriptor(t, p)
		q := quietOf(t, p)
		for range 20 {
			if _, err := p.Stdin.WriteString("timer\n"); err != nil {
				t.Fatal(err)
			}
			a, err := q.Settle(context.Background(), fd, time.Minute, time.Minute)
			if a != Asleep || err != nil || !readable(fd) {
				t.Fatalf("the program is %v, %v; answered: %v", a, err, readable(fd))
			}
			r.ReadString('\n')
		}
	}
}

func BenchmarkQuietLook(b *testing.B) {
	for _, g := range targets(b) {
		b.Run(g.name, func(b *testing.B) {
			p, _ := g.start(b)
			q := quietOf(b, p)
			time.Sleep(time.Second)
			q.Rested()
			seen := map[Activity]int{}
			b.ReportAllocs()
			for b.Loop() {
				seen[q.Look()]++
			}
			_, all := p.Threads()
			b.ReportMetric(float64(all), "threads")
			b.Log(seen)
		})
	}
}
