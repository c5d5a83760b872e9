package teasel_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel"
)

// heap returns the bytes in use once what is garbage has been collected.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// crowd makes testcases of many features, each with one that no other reaches: all of them are kept.
type uniqueFeatures struct {
	r   *rand.Rand
	fs  []teasel.Feature
	all int // different features that testcases share
}

func newCrowd(features int) *uniqueFeatures {
	return &uniqueFeatures{rand.New(rand.NewPCG(1, 2)), make([]teasel.Feature, features), features * 50}
}

func (c *uniqueFeatures) entry(i int) teasel.Entry {
	for j := range c.fs {
		c.fs[j] = teasel.Feature(c.r.IntN(c.all) + 1)
	}
	c.fs[0] = teasel.Feature(c.all + i + 1)
	data := fmt.Appendf(nil, "testcase %d", i)
	return teasel.Entry{Key: teasel.Key(data), Data: data, Runs: 1, Features: teasel.NewFeatureSet(c.fs...), Complexity: 10}
}

// worst notes the longest of many operations, in processor time of the calling thread: what other processes do to the clock on
// a busy machine is not the hub's doing.
type worst struct{ total, most time.Duration }

func (w *worst) time(op func()) {
	began := threadTime()
	op()
	d := threadTime() - began
	w.total, w.most = w.total+d, max(w.most, d)
}

// threadTime returns the processor time that the calling thread has used, from clock_gettime(CLOCK_THREAD_CPUTIME_ID).
func threadTime() time.Duration {
	var ts syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		panic(e)
	}
	return time.Duration(ts.Nano())
}

func (w *worst) report(b *testing.B, name string, n int) {
	b.ReportMetric(float64(w.total.Microseconds())/float64(n), name+"-µs")
	b.ReportMetric(float64(w.most.Microseconds())/1000, name+"-worst-ms")
}

// BenchmarkScale fills a hub and a scheduler with as many testcases as a long campaign has. The worst figures are the longest that
// anything has taken while the corpus grew, in processor time; bytes/testcase is what both hold together, inputs of some 15 bytes included.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprintf("%dk", n), func(b *testing.B) {
			for b.Loop() {
				benchmarkScale(b, n*1000, 1000)
			}
		})
	}
}

func benchmarkScale(b *testing.B, n, features int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, h, s := newCrowd(features), &teasel.Hub{}, teasel.NewScheduler()
	x, y := h.Join(), h.Join()
	r := rand.New(rand.NewPCG(3, 4))
	before := heap()
	var sync, other, add, pick worst
	for i := range n {
		e := c.entry(i)
		sync.time(func() { publish(b, x, teasel.News{Entries: []teasel.Entry{e}}) })
		add.time(func() { s.Add(teasel.Rating{ID: teasel.ID(i), Complexity: e.Complexity, Features: e.Features}) })
		pick.time(func() {
			p, _ := s.Next(r)
			s.Done(p, 500, 0)
		})
		if i%100 == 0 {
			other.time(func() { publish(b, y, teasel.News{}) })
		}
	}
	held := heap() - before
	late := h.Join()
	for len(publish(b, late, teasel.News{}).Entries) > 0 {
		other.time(func() { publish(b, late, teasel.News{}) })
	}
	sync.report(b, "publish", n)
	add.report(b, "add", n)
	pick.report(b, "pick", n)
	other.report(b, "pull", n/100)
	b.ReportMetric(float64(held)/float64(n), "bytes/testcase")
	runtime.KeepAlive(s)
}

// What a hub and a scheduler hold depends on the testcases that there are, not on those that there were.
func TestEvictionsFreeMemory(t *testing.T) {
	h, s := &teasel.Hub{}, teasel.NewScheduler()
	x := h.Join()
	made := 0
	round := func(n int) {
		for range n {
			made++
			key := fmt.Sprint(made)
			publish(t, x, teasel.News{Entries: []teasel.Entry{{Key: key, Data: []byte(key), Runs: 1, Features: teasel.NewFeatureSet(1), Complexity: 1 / float64(made)}}})
			s.Add(teasel.Rating{ID: teasel.ID(made), Features: teasel.NewFeatureSet(1)})
			s.Remove(teasel.ID(made))
		}
	}
	round(1000)
	before := heap()
	round(50_000)
	if after := heap(); after > before+1<<20 {
		t.Errorf("after 50000 evictions %d KiB more are held", (after-before)>>10)
	}
	if sum := h.Summary(); sum.Corpus != 1 || sum.Evicted != 50_999 {
		t.Errorf("%d testcases, %d evicted", sum.Corpus, sum.Evicted)
	}
	runtime.KeepAlive(s)
}
