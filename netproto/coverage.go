package netproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/shm"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/internal/virgin"
	"github.com/teaselfuzz/teasel/netproto/conn"
)

const (
	leastMap = 64 << 10 // bytes: what AFL++ calls MAP_SIZE
	mostMap  = 64 << 20
	// roomyMap is how much a program of which we know nothing before it runs may ask for. What is not used takes no memory.
	roomyMap = 8 << 20
	// marker is in every program that counts in shared memory as AFL's do.
	marker = "__AFL_SHM_ID"
	// edgeFeatures is where the features of edges begin; those below are of responses.
	edgeFeatures = teasel.Feature(1) << 32
)

// instruments are what is known of the programs of the server, and what they say of themselves.
type instruments struct {
	coverage *coverage // nil: the server does not count
	symbols  triage.Symbols
	programs map[string]traits // what was read from programs of the server, by file
	// quarantines says that the server holds back memory that was freed, as AddressSanitizer does.
	quarantines bool
	reports     *reports // nil: what the server's sanitizers say comes with its output
}

// coverage is the map of hit counters that an instrumented server fills while it runs, and what of it is known. Until the
// server is up there are two maps, for it is not known who has built it.
type coverage struct {
	teaselMap *sancov.Segment // of teasel's runtime
	aflMap    *shm.Segment    // of AFL++'s
	size      int             // of aflMap, as far as the server uses it
	novelty   *virgin.Novelty
	features  []uint32
	symbols   triage.Symbols
}

// makeMaps makes maps for the program of the command, which need not be instrumented, or may be a shell that becomes another one.
func (e *executor) makeMaps(ctx context.Context) (err error) {
	c, user := &coverage{size: leastMap}, e.target.User
	size := roomyMap
	if path, err := exec.LookPath(e.target.Command[0]); err == nil { // otherwise starting it says more
		p, err := e.inspectProgram(ctx, path)
		if err != nil {
			return err
		}
		if e.quarantines = p.address; p.mapSize > 0 {
			size, c.size = p.mapSize, p.mapSize
		}
	}
	mode := 0o600
	if os.Geteuid() == 0 && user != "root" { // the server is not ours
		mode = 0o666
	}
	if c.teaselMap, err = sancov.NewSegment(mode); err == nil {
		c.aflMap, err = shm.New(size, mode)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	e.coverage = c
	return nil
}

// traits are what can be read from a program about how it was built.
type traits struct {
	mapSize int  // bytes of the map that AFL++'s runtime in it wants; 0: it is not in it
	address bool // with AddressSanitizer
}

// inspectProgram reads a program, which the server's user may run: once, however it is named.
func (e *executor) inspectProgram(ctx context.Context, path string) (p traits, err error) {
	file := path
	if full, err := filepath.Abs(path); err == nil {
		if file, err = filepath.EvalSymlinks(full); err != nil {
			file = full
		}
	}
	if p, known := e.programs[file]; known {
		return p, nil
	}
	text, err := os.ReadFile(path)
	if err != nil { // starting it says more
		return p, nil
	}
	p.address = bytes.Contains(text, []byte("__asan_init"))
	if bytes.Contains(text, []byte(marker)) && bytes.Contains(text, []byte(dumpSize)) {
		if e.target.Sandbox && e.server == nil { // it is asked when there is a sandbox, and may want as much as is there
			return p, nil
		}
		if p.mapSize, err = e.mapSize(ctx, path); err != nil {
			return p, err
		}
	}
	e.programs[file] = p
	return p, nil
}

// inspectServer reads the programs of the server that runs, of which the command may name none: it may be a shell that becomes one.
func (e *executor) inspectServer(ctx context.Context) error {
	size := 0
	for _, path := range e.server.Programs() {
		p, err := e.inspectProgram(ctx, path)
		if err != nil {
			return err
		}
		e.quarantines = e.quarantines || p.address
		size = max(size, p.mapSize)
	}
	if c := e.coverage; size > 0 {
		c.size = min(size, len(c.aflMap.Bytes))
	}
	return nil
}

// dumpSize is a variable on which programs that AFL++ has built say how large a map they want, before main begins, and end.
const dumpSize = "AFL_DUMP_MAP_SIZE"

// mapSize runs a program as the server's user, where the server is if it is up. 0: that user may not run it, of which starting it says more.
func (e *executor) mapSize(ctx context.Context, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	credential, err := conn.Credential(e.target.User)
	if err != nil {
		return 0, err
	}
	c := exec.CommandContext(ctx, path)
	c.SysProcAttr, c.WaitDelay = &syscall.SysProcAttr{Credential: credential}, time.Second
	c.Env = append(os.Environ(), dumpSize+"=1", "ASAN_OPTIONS=detect_leaks=0")
	var out bytes.Buffer
	c.Stdout = &out
	if e.server != nil {
		err = e.server.Start(c)
	} else {
		err = c.Start()
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("asking %s for the size of its map: %w", path, err)
	}
	_ = c.Wait() // the exit status is never 0
	n, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || n > mostMap {
		return 0, fmt.Errorf("asking %s for the size of its map: it says %.100q", path, out.String())
	}
	return (max(n, leastMap) + 63) &^ 63, nil
}

// env is what the server has to find in its environment.
func (c *coverage) env() []string {
	return []string{c.teaselMap.Env(), marker + "=" + strconv.Itoa(c.aflMap.ID), "AFL_MAP_SIZE=" + strconv.Itoa(len(c.aflMap.Bytes))}
}

// choose keeps the map that the server counts in now that it is up, and reports whether there is one.
func (c *coverage) choose() (found bool, err error) {
	if c.teaselMap.Attached() {
		c.novelty = virgin.New(c.teaselMap.Limit())
		err, c.aflMap = c.aflMap.Close(), nil
		return true, err
	}
	err, c.teaselMap = c.teaselMap.Close(), nil
	c.novelty = virgin.New(c.size)
	_, hits := c.novelty.Hash(c.counts())
	return hits > 1, err // AFL++'s runtime counts one by itself
}

// counts returns the map.
func (c *coverage) counts() []byte {
	if c.teaselMap != nil {
		return c.teaselMap.Counts()
	}
	return c.aflMap.Bytes[:c.size]
}

func (c *coverage) clear() {
	if c.teaselMap != nil {
		c.teaselMap.Clear()
		return
	}
	clear(c.counts())
}

// started takes in that the server was started and is this process: later it may be too late to ask where in its memory
// functions are.
func (c *coverage) started(pid int) {
	if c.teaselMap != nil {
		c.symbols.Of(pid)
	}
}

// fault returns which signal has ended a process of the server since the map was cleared, and in which functions, innermost
// first. 0: none has, as far as the server says.
func (c *coverage) fault() (signal syscall.Signal, stack triage.Stack) {
	if c == nil || c.teaselMap == nil {
		return 0, nil
	}
	f := c.teaselMap.Fault()
	for _, pc := range f.Frames {
		stack = append(stack, c.symbols.Address(pc)...)
	}
	return f.Signal, stack.CutSmashed()
}

func (c *coverage) close() error { return errors.Join(c.teaselMap.Close(), c.aflMap.Close()) }

// news reports whether a dialogue of that complexity has reached something new.
func (c *coverage) news(complexity float64) bool {
	return c.novelty.News(c.counts(), int(complexity))
}

// all appends everything that was reached.
func (c *coverage) all(dst []teasel.Feature) []teasel.Feature {
	c.features = c.novelty.Features(c.features[:0], c.counts())
	for _, f := range c.features {
		dst = append(dst, edgeFeatures+teasel.Feature(f))
	}
	return dst
}

// learn notes that a feature is known.
func (c *coverage) learn(f teasel.Feature, complexity float64) {
	if f >= edgeFeatures && f < edgeFeatures+1<<32 {
		c.novelty.Learn(uint32(f-edgeFeatures), int(complexity))
	}
}

// quarantine is how many megabytes of what was freed AddressSanitizer holds back. It is enough for what one dialogue uses after
// it was freed, and little enough to tell it from a leak.
const quarantine = 1

// sanitizerEnv has sanitizers abort, so that a fault ends the server where it happens, and says so with names. Further options
// are for each of them. What the user has set comes behind, and wins.
func sanitizerEnv(user []string, options ...string) (env []string) {
	for _, d := range [...]struct{ name, value string }{
		{"ASAN_OPTIONS", "abort_on_error=1:detect_leaks=0:symbolize=1:allocator_may_return_null=1:detect_odr_violation=0:thread_local_quarantine_size_kb=64:quarantine_size_mb=" +
			strconv.Itoa(quarantine)},
		{"UBSAN_OPTIONS", "print_stacktrace=1"},
		{"MSAN_OPTIONS", "abort_on_error=1:symbolize=1"},
		{"TSAN_OPTIONS", "symbolize=1"},
	} {
		value := strings.Join(append([]string{d.value}, options...), ":")
		for _, e := range append(os.Environ(), user...) {
			if own, ok := strings.CutPrefix(e, d.name+"="); ok && own != "" {
				value += ":" + own
			}
		}
		env = append(env, d.name+"="+value)
	}
	return env
}
