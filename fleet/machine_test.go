package fleet

import (
	"math"
	"strings"
	"testing"
	"time"
)

// A machine that is gone is said to be, and so is it that the hub was not reached for a while.
func TestPanels(t *testing.T) {
	b := &Bridge{options: Options{Every: time.Second}}
	if ps := b.Panels(); ps != nil {
		t.Errorf("panels before anything was heard: %v", ps)
	}
	b.machines = []Machine{{Name: "a", State: Running, Sent: 3}, {Name: "b", State: Running, Sent: 1, Gone: true, Age: time.Minute}}
	b.heard, b.looked = time.Now(), time.Now()
	p := b.Panels()[0]
	if p.Title != "Machines" || p.Rows[0][1] != "running" || p.Rows[0][9] != "75%" || p.Rows[1][1] != "gone" || p.Rows[1][2] != "1m0s ago" {
		t.Errorf("%q: %q", p.Title, p.Rows)
	}
	b.heard, b.looked = time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)
	if p := b.Panels()[0]; !strings.Contains(p.Title, "the hub was not reached") || p.Rows[0][1] != "running" || p.Rows[0][2] != "1h0m0s ago" {
		t.Errorf("%q: %q", p.Title, p.Rows)
	}
}

// In a large fleet a machine does not read everybody's figures in each round; how old those are that it has is shown.
func TestLooks(t *testing.T) {
	b := &Bridge{options: Options{Every: time.Second}, machines: make([]Machine, 10*machinesRead), looked: time.Now().Add(-5 * time.Second), heard: time.Now()}
	if err := b.look(t.Context()); err != nil { // it has no hub to ask
		t.Error(err)
	}
	if p := b.Panels()[0]; p.Title != "Machines" || p.Rows[0][2] != "5s ago" {
		t.Errorf("%q: %q", p.Title, p.Rows[0])
	}
}

func TestPlausible(t *testing.T) {
	for _, m := range []Machine{{Executions: math.MaxUint64}, {Rate: 1e308}, {Rate: -1}, {Workers: -1}, {Sent: -5}} {
		if m.plausible() {
			t.Errorf("%+v is taken for true", m)
		}
	}
	if m := (Machine{Executions: 1e12, Rate: 1e6, Corpus: 1e6, Workers: 64, Sent: 10}); !m.plausible() {
		t.Errorf("%+v is not", m)
	}
}
