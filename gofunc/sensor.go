package gofunc

import (
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/teaselfuzz/teasel"
)

// recorder takes what the sensors in the code under test say during one execution. They may speak from any goroutine.
type recorder struct {
	count    atomic.Uint32
	states   [maxStates]uint64
	mu       sync.Mutex
	measures map[string]float64 // the greatest of the execution
	operands []teasel.Operand
	compared bool // operands are asked for
}

// More than so many states, or comparisons, in one execution are left out.
const (
	maxStates   = 1 << 12
	maxOperands = 1 << 10
)

// listening is the recorder of the campaign in this process. It is the one variable of the package: the code under test
// calls the sensors without knowing of a campaign, and there is one test under teasel in a process.
var listening atomic.Pointer[recorder]

// Observe tells a campaign that the program is in the state n: a position, the mode of a machine, a hash of both. An
// input that brings the program into a state that no other input has is kept, as one that covers new code is (IJON,
// S&P 2020). States are identified by 14 bits of a hash, so that at most 16,384 are: what has more, such as a number that
// is different for each input, has to be put into classes. Outside of a campaign Observe does nothing.
func Observe(n uint64) {
	r := listening.Load()
	if r == nil {
		return
	}
	if i := r.count.Add(1) - 1; i < maxStates {
		r.states[i] = n
	}
}

// Maximize tells a campaign to look for inputs that make the value called name as large as possible. Of several calls in
// one execution the greatest counts. Outside of a campaign it does nothing.
func Maximize(name string, value float64) {
	r := listening.Load()
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.measures[name]; !ok || value > old {
		r.measures[name] = value
	}
}

// Compare reports whether two numbers are equal, and tells a campaign which ones were compared, so that it can look for
// inputs for which they are. name tells comparisons apart. It is for numbers that the compiler's instrumentation does not
// see.
func Compare(name string, got, want uint64) bool {
	if r := listening.Load(); r != nil && got != want {
		r.compare(name, got, want)
	}
	return got == want
}

func (r *recorder) compare(name string, got, want uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.compared && len(r.operands) < maxOperands {
		r.operands = append(r.operands, teasel.Operand{Site: number(name), Size: 8, A: got, B: want})
	}
}

// number names a text by 32 bits.
func number(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}

func newRecorder() *recorder { return &recorder{measures: map[string]float64{}} }

// begin forgets the last execution.
func (r *recorder) begin(operands bool) {
	r.count.Store(0)
	if len(r.measures) > 0 || len(r.operands) > 0 || r.compared != operands {
		r.mu.Lock()
		defer r.mu.Unlock()
		clear(r.measures)
		r.operands, r.compared = r.operands[:0], operands
	}
}

// seen returns the states of the execution, in order, with repetitions.
func (r *recorder) seen() []uint64 { return r.states[:min(r.count.Load(), maxStates)] }
