package corpus

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// What the hub waits for: a testcase of 2 KB with 200 features, a finding, and the figures of a second.
func BenchmarkReport(b *testing.B) {
	data, features := make([]byte, 2000), make([]teasel.Feature, 200)
	for i := range features {
		features[i] = teasel.Feature(i) << 50
	}
	for _, c := range []struct {
		name  string
		event func(i int) teasel.Event
	}{
		{"added", func(i int) teasel.Event {
			in := append(strconv.AppendInt(nil, int64(i), 10), data...)
			return teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: teasel.Key(in), Data: in, Features: teasel.NewFeatureSet(features...)}}
		}},
		{"found", func(i int) teasel.Event { return found("r/crash", strconv.Itoa(i), string(data)) }},
		{"progress", func(i int) teasel.Event { return progress(time.Duration(i)*time.Second, uint64(i)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, err := Create(b.TempDir(), testMeta())
			if err != nil {
				b.Fatal(err)
			}
			i := 0
			for b.Loop() {
				if err := d.Report(c.event(i)); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.StopTimer()
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// The worst that the hub waits for while a corpus of testcases with 500 features grows and is compacted several times, and
// what a testcase takes in memory and on disk.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		d, err := Create(b.TempDir(), testMeta())
		if err != nil {
			b.Fatal(err)
		}
		const n, per = 10_000, 500
		r, fs := rand.New(rand.NewPCG(1, 2)), make([]teasel.Feature, per)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var worst, total time.Duration
		for i := range n {
			for j := range fs {
				fs[j] = teasel.Feature(r.IntN(400_000) + 1)
			}
			e := added(strconv.Itoa(i), fs...)
			began := time.Now()
			if err := d.Report(e); err != nil {
				b.Fatal(err)
			}
			took := time.Since(began)
			worst, total = max(worst, took), total+took
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(total.Microseconds())/n, "report-µs")
		b.ReportMetric(float64(worst.Microseconds())/1000, "report-worst-ms")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "bytes/testcase")
		b.ReportMetric(float64(d.epoch), "epochs")
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(d.Path(), campaignName))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/n, "disk-bytes/testcase")
	}
}
