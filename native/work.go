package native

// The counters of a run say how much it has done, and repeat. But they have eight bits, and see neither long loops nor
// memory that the kernel clears, so that a run which lasts has its time counted too: in steps of four, from ten milliseconds on,
// for what is quicker is to be the same each time.
const (
	lastingFrom = 10_000_000 // nanoseconds
	lastingMost = 1 << 40
	lastingStep = 4
	hitTime     = 2 // nanoseconds that are worth as much as one hit of a counter
)

// lasting is what the time of a run, in nanoseconds of the processor, adds to its work.
func lasting(cpu uint64) (work uint64) {
	for step := uint64(lastingFrom); step <= min(cpu, lastingMost); step *= lastingStep {
		work = step / hitTime
	}
	return work
}
