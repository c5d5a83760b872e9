package agent

import (
	"math/bits"
	"slices"
	"unsafe"
)

// bucketOf is the bit for a count: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, 128 and more, as in AFL.
var bucketOf = func() (t [256]uint8) {
	for i := range t {
		switch n := bits.Len8(uint8(i)); {
		case i == 0:
		case i <= 3:
			t[i] = 1 << (i - 1)
		case i < 32:
			t[i] = 1 << n
		case i < 128:
			t[i] = 1 << 6
		default:
			t[i] = 1 << 7
		}
	}
	return t
}()

// Bucket returns the range of counts that a count other than 0 is in, from 0 to Buckets-1.
func Bucket(count byte) int { return bits.TrailingZeros8(bucketOf[count]) }

// novelty judges what an execution has reached.
type novelty struct {
	m      *Memory
	length uint16 // of the input
	ask    uint32
	slot   *Slot
	work   uint64
	trace  uint64
}

// scan looks at all counters and sets them back to zero.
func (j *novelty) scan(counters []byte) {
	n := len(counters)
	i := 0
	for ; i+64 <= n; i += 64 {
		p := (*[8]uint64)(unsafe.Pointer(&counters[i]))
		if p[0]|p[1]|p[2]|p[3]|p[4]|p[5]|p[6]|p[7] == 0 {
			continue
		}
		for k := range p {
			if p[k] != 0 {
				j.eight(i+8*k, p[k])
				p[k] = 0
			}
		}
	}
	for ; i < n; i += 8 {
		word := uint64(0)
		for k := i; k < min(i+8, n); k++ {
			word |= uint64(counters[k]) << (8 * (k - i))
			counters[k] = 0
		}
		if word != 0 {
			j.eight(i, word)
		}
	}
}

// eight judges the eight counters from number at on.
func (j *novelty) eight(at int, word uint64) {
	m := j.m
	looks := j.ask != 0 || j.length < m.Bar[at/8]
	for word != 0 {
		shift := bits.TrailingZeros64(word) &^ 7
		count := uint8(word >> shift)
		word &^= 0xff << shift
		i, bucket := at+shift/8, bucketOf[count]
		if !looks && m.Virgin[i]&bucket == 0 {
			continue
		}
		j.reached(i, Bucket(count))
		j.work += uint64(count)
	}
}

// reached judges one feature.
func (j *novelty) reached(counter, bucket int) {
	m, f := j.m, counter*Buckets+bucket
	if j.ask&AskTrace != 0 {
		j.trace = (j.trace ^ uint64(f+1)) * 0x9e3779b97f4a7c15
		j.trace ^= j.trace >> 29
	}
	bit := uint8(1) << bucket
	isNew := m.Virgin[counter]&bit != 0
	if j.ask&AskQuiet == 0 {
		switch {
		case isNew:
			m.Virgin[counter] &^= bit
			m.Shortest[f] = j.length
			m.Bar[counter/8] = max(m.Bar[counter/8], j.length)
		case j.length < m.Shortest[f]:
			isNew = true
			m.Shortest[f] = j.length
		}
	}
	if isNew && j.ask&AskQuiet == 0 || j.ask&AskFeatures != 0 {
		j.add(f)
	}
}

func (j *novelty) add(f int) {
	m := j.m
	if used := m.FeaturesUsed; int(used) < len(m.Feature) {
		m.Feature[used] = uint32(f)
		m.FeaturesUsed++
		j.slot.FeatureCount++
	}
}

// states judges the states that the test has observed, each once.
func (j *novelty) states() {
	m := j.m
	n := min(m.StatesCount, m.StatesRoom)
	if n == 0 {
		return
	}
	seen := m.State[:n]
	for i, s := range seen {
		seen[i] = s * 0x9e3779b97f4a7c15 >> 50 // States is 1 << 14
	}
	slices.Sort(seen)
	first := int(m.Capacity) - States
	for i, s := range seen {
		if i == 0 || s != seen[i-1] {
			j.reached(first+int(s), 0)
		}
	}
	m.StatesCount = 0
}
