package fleet

import (
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
	b.heard = time.Now()
	p := b.Panels()[0]
	if p.Title != "Machines" || p.Rows[0][1] != "running" || p.Rows[0][9] != "75%" || p.Rows[1][1] != "gone" || p.Rows[1][2] != "1m0s ago" {
		t.Errorf("%q: %q", p.Title, p.Rows)
	}
	b.heard = time.Now().Add(-time.Hour)
	if p := b.Panels()[0]; !strings.Contains(p.Title, "the hub was not reached") || p.Rows[0][1] != "running" || p.Rows[0][2] != "1h0m0s ago" {
		t.Errorf("%q: %q", p.Title, p.Rows)
	}
}
