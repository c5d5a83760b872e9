package native

import "testing"

func TestTimeWork(t *testing.T) {
	const ms = 1_000_000
	for cpu, want := range map[uint64]uint64{
		0: 0, 10*ms - 1: 0, 10 * ms: 5 * ms, 40*ms - 1: 5 * ms, 40 * ms: 20 * ms, 1000 * ms: 320 * ms, 1<<64 - 1: 5 << 16 * ms,
	} {
		if got := timeWork(cpu); got != want {
			t.Errorf("%d ns: %d, want %d", cpu, got, want)
		}
	}
}
