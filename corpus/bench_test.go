package corpus

import (
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
