package native

// The work of a run is the sum of its counters, which is deterministic. However, counters have eight bits, and measure neither long
// loops nor memory that the kernel clears. If a run takes ten milliseconds or more, its processor time is added, rounded down to ten
// milliseconds times a power of four, so that it is nearly deterministic.
const (
	minTime  = 10_000_000 // nanoseconds
	maxTime  = 1 << 40
	timeStep = 4
	hitTime  = 2 // nanoseconds that count as one hit of a counter
)

// timeWork returns the work that is added for the processor time of a run, in nanoseconds.
func timeWork(cpu uint64) (work uint64) {
	for step := uint64(minTime); step <= min(cpu, maxTime); step *= timeStep {
		work = step / hitTime
	}
	return work
}
