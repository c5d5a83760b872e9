package native

import "testing"

// TestTurn: a turn has fewer inputs for slower testcases, between minTurn and the size of a batch.
func TestTurn(t *testing.T) {
	for _, test := range []struct {
		work  uint64
		batch int
		want  int
	}{
		{0, 256, 64}, {1, 256, 256}, {128, 256, 256}, {256, 256, 128}, {512, 256, 64}, {1 << 40, 256, 64}, {1, 64, 64}, {1, 1, 64}, {1, 1024, 1024},
	} {
		if got := turn(test.work, test.batch); got != test.want {
			t.Errorf("work of %d in batches of %d: %d, want %d", test.work, test.batch, got, test.want)
		}
	}
}
