package agent

import "unsafe"

// recording notes comparisons. It is reached by the hooks that the compiler calls, from any goroutine and any function,
// so that its methods may neither grow the stack nor be watched by the race detector. Two goroutines that compare
// at once may lose a record.
type recording struct {
	on      bool
	records []Operand
	m       *Memory
	count   [1 << 12]uint8 // records of a site in this execution, by hash
}

var recorder recording

func (r *recording) attach(m *Memory) { r.m, r.records = m, m.Operand }

func (r *recording) begin() {
	clear(r.count[:])
	r.on = true
}

func (r *recording) end() { r.on = false }

// wanted reports whether a comparison is to be recorded.
//
//go:nosplit
//go:norace
func (r *recording) wanted(site uint32) bool {
	if w := site * 0x9e3779b1 >> 16; r.m.Watching > 0 && *(*uint8)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.m.Watched)), w/8))&(1<<(w%8)) == 0 {
		return false
	}
	n := &r.count[site*0x85ebca6b>>20]
	if *n == SiteRecords || int(r.m.OperandsUsed) >= len(r.records) {
		return false
	}
	*n++
	return true
}

// next returns room for a record.
//
//go:nosplit
//go:norace
func (r *recording) next(site uint32, flags uint8) *Operand {
	used := r.m.OperandsUsed
	if int(used) >= len(r.records) { // another goroutine has taken the last
		return nil
	}
	r.m.OperandsUsed = used + 1
	o := &r.records[used]
	o.Site, o.Flags, o.Size, o.ALength, o.BLength = site, flags, 0, 0, 0
	return o
}

// Number is called for a comparison of two numbers of size bytes.
//
//go:nosplit
//go:norace
func Number(a, b uint64, size uint8, flags uint8, site uint) {
	r := &recorder
	if !r.on || !r.wanted(uint32(site)) {
		return
	}
	if a == b {
		flags |= OperandEqual
	}
	if o := r.next(uint32(site), flags); o != nil {
		o.Size = size
		*(*uint64)(unsafe.Pointer(&o.A)), *(*uint64)(unsafe.Pointer(&o.B)) = a, b
	}
}

// Text is called for a comparison of two strings.
//
//go:nosplit
//go:norace
func Text(a, b string, site uint) {
	r := &recorder
	if !r.on || !r.wanted(uint32(site)) {
		return
	}
	o := r.next(uint32(site), OperandText)
	if o == nil {
		return
	}
	o.A, o.B = [Texts]byte{}, [Texts]byte{}
	o.ALength, o.BLength = uint8(min(len(a), Texts)), uint8(min(len(b), Texts))
	for i := 0; i < int(o.ALength); i++ {
		o.A[i] = a[i]
	}
	for i := 0; i < int(o.BLength); i++ {
		o.B[i] = b[i]
	}
	if len(a) == len(b) && len(a) <= Texts && o.A == o.B {
		o.Flags |= OperandEqual
	}
}

// Recording reports whether comparisons are recorded now, which costs less to ask than a record to refuse.
func Recording() bool { return recorder.on }

// privateRoom is how many comparisons are recorded in a process that runs no batches.
const privateRoom = 1 << 10

// Record begins to note comparisons in a process that runs no batches: that of a typed test.
func Record() {
	if recorder.m == nil {
		recorder.attach(&Memory{Header: &Header{}, Operand: make([]Operand, privateRoom)})
	}
	recorder.m.OperandsUsed = 0
	recorder.begin()
}

// Recorded ends that and hands over each comparison of numbers that were not equal.
func Recorded(take func(site uint32, size uint8, constant bool, a, b uint64)) {
	recorder.end()
	for i := range recorder.records[:recorder.m.OperandsUsed] {
		if o := &recorder.records[i]; o.Flags&(OperandText|OperandEqual) == 0 {
			take(o.Site, o.Size, o.Flags&OperandConst != 0, *(*uint64)(unsafe.Pointer(&o.A)), *(*uint64)(unsafe.Pointer(&o.B)))
		}
	}
}
