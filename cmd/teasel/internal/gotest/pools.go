package gotest

import (
	"fmt"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/view"
)

// poolPanel shows what the pools and sensors of typed fuzz tests have come to, by the files in their campaigns' directories.
type poolPanel struct{ dirs []string }

var _ view.Paneler = (*poolPanel)(nil)

func panels(_ *corpus.Meta, dir string) view.Paneler { return &poolPanel{[]string{dir}} }

// Panels implements [view.Paneler].
func (p *poolPanel) Panels([]teasel.Entry) (all []view.Panel) {
	pools := view.Panel{Title: "Pools of fuzz tests", Key: "pools", Names: 2, Head: []string{"fuzz test", "pool", "inputs", "score", "added", "evicted"}}
	sensors := view.Panel{Title: "Sensors of fuzz tests", Key: "sensors", Names: 3, Head: []string{"fuzz test", "sensor", "figure", "value"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, dir := range p.dirs {
		for _, s := range link.ReadStatistics(dir) {
			test := s.Test
			if s.Worker > 0 {
				test = fmt.Sprintf("%s, worker %d", test, s.Worker)
			}
			for _, q := range s.Pools {
				if q.Added > 0 {
					pools.Rows = append(pools.Rows, []string{test, q.Name, strconv.Itoa(q.Size), number(q.Score), strconv.FormatUint(q.Added, 10), strconv.FormatUint(q.Evicted, 10)})
				}
			}
			for _, x := range s.Sensors {
				sensors.Rows = append(sensors.Rows, []string{test, x.Name, x.What, number(x.Value)})
			}
		}
	}
	for _, t := range []view.Panel{pools, sensors} {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}
