package native

// The work of a run is the sum of its counters, which is the same each time. But counters have eight bits, and miss long
// loops and memory that the kernel clears. The processor time of a run of ten milliseconds and more is added, rounded down to a
// power of four times ten milliseconds, so that it is nearly always the same.
const (
	lastingFrom = 10_000_000 // nanoseconds
	lastingMost = 1 << 40
	lastingStep = 4
	hitTime     = 2 // nanoseconds that count as much as one hit of a counter
)

// lasting returns what the processor time of a run, in nanoseconds, adds to its work.
func lasting(cpu uint64) (work uint64) {
	for step := uint64(lastingFrom); step <= min(cpu, lastingMost); step *= lastingStep {
		work = step / hitTime
	}
	return work
}
