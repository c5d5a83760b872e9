package observe

import (
	"strconv"
	"testing"
)

func TestNovelty(t *testing.T) {
	var n Novelty
	for i := range NoveltyTimes + 1 {
		if got, want := n.IsNew("line", "took "+strconv.Itoa(i)+" ms"), i < NoveltyTimes; got != want {
			t.Errorf("the same but for digits, time %d: new = %v, want %v", i, got, want)
		}
	}
	if !n.IsNew("stderr", "took 1 ms") {
		t.Error("of another kind it is not new")
	}
	fresh := 0
	for i := range 2 * noveltySorts {
		if n.IsNew("noise", string(rune('a'+i))) {
			fresh++
		}
	}
	if fresh != noveltySorts {
		t.Errorf("%d sorts of one kind are new, want %d", fresh, noveltySorts)
	}
}
