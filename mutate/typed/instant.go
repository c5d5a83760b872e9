package typed

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// instant is the node of a time.Time, in UTC and without a monotonic clock. The simplest is 1 January 1970.
type instant struct{ info }

func newInstant() *instant {
	return &instant{newInfo(reflect.TypeFor[time.Time]())}
}

func at(p unsafe.Pointer) time.Time { return *(*time.Time)(p) }

func (n *instant) walk(w *walk, p unsafe.Pointer) float64 {
	t := at(p)
	s := t.Unix()
	if s < 0 {
		s = ^s
	}
	return w.leaf(n, p, 1+float64(bits.Len64(uint64(s))+bits.Len32(uint32(t.Nanosecond())))/8)
}

func (n *instant) bounds(*bounding) limits { return limits{1, 13, 64 + math.Log2(1e9)} }

func (n *instant) random(e *Editor) time.Time {
	s := int64(e.r.Uint64() >> (28 + e.r.IntN(36))) // up to the year 4147
	if e.r.IntN(4) == 0 {
		s = -s / 2 // not before the year 0
	}
	nano := int64(0)
	if e.r.IntN(2) == 0 {
		nano = e.r.Int64N(1e9)
	}
	return time.Unix(s, nano).UTC()
}

// expressible reports whether RFC 3339 has a text for a time.
func expressible(t time.Time) bool { y := t.Year(); return y >= 0 && y <= 9999 }

func wholeNumber(v any) (int64, error) {
	s, err := number(v)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(s, 10, 64)
}

func (n *instant) set(e *Editor, p unsafe.Pointer, t time.Time) {
	if !expressible(t) {
		return
	}
	e.saveBlock(&n.info, p)
	e.moved-- // no place below it has moved
	*(*time.Time)(p) = t
}

func (n *instant) generate(e *Editor, p unsafe.Pointer, _ float64) { *(*time.Time)(p) = n.random(e) }

var spans = [...]time.Duration{1, time.Second, time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour}

func (n *instant) change(e *Editor, p unsafe.Pointer) {
	t := at(p)
	if d := spans[e.r.IntN(len(spans))]; e.r.IntN(3) > 0 {
		t = t.Add(d * time.Duration(e.r.IntN(9)-4))
	} else {
		t = n.random(e)
	}
	n.set(e, p, t)
}

func (n *instant) steps(*Editor, unsafe.Pointer) int { return 3 + 2*len(spans) }

func (n *instant) step(e *Editor, p unsafe.Pointer, k int) {
	switch t := at(p); {
	case k == 0:
		n.set(e, p, time.Unix(0, 0).UTC())
	case k == 1:
		n.set(e, p, time.Time{})
	case k == 2:
		n.set(e, p, time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC))
	default:
		k -= 3
		n.set(e, p, t.Add(spans[k/2]*time.Duration(1-2*(k%2))))
	}
}

func (n *instant) simpler(*Editor, unsafe.Pointer) int { return 4 }

func (n *instant) simplify(e *Editor, p unsafe.Pointer, k int) {
	t := at(p)
	n.set(e, p, [...]time.Time{time.Unix(0, 0).UTC(), time.Unix(t.Unix(), 0).UTC(), time.Unix(t.Unix()/2, 0).UTC(), time.Unix(t.Unix()/256, 0).UTC()}[k])
}

// Neither the location nor a monotonic clock is saved, so they do not run either.
func (n *instant) copy(dst, src unsafe.Pointer) { *(*time.Time)(dst) = at(src).Round(0).UTC() }

func (n *instant) check(unsafe.Pointer, int) error { return nil }

// A time in a year that RFC 3339 has no text for is written as seconds and nanoseconds since 1970.
func (n *instant) encode(b []byte, p unsafe.Pointer) []byte {
	if t := at(p).UTC(); !expressible(t) {
		return fmt.Appendf(b, "[%d,%d]", t.Unix(), t.Nanosecond())
	}
	b = append(b, '"')
	b = at(p).UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func (n *instant) decode(v any, p unsafe.Pointer) error {
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		sec, err := wholeNumber(pair[0])
		nano, errNano := wholeNumber(pair[1])
		if err = errors.Join(err, errNano); err == nil {
			*(*time.Time)(p) = time.Unix(sec, nano).UTC()
		}
		return err
	}
	s, ok := v.(string)
	if !ok {
		return mismatch("a time", v)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("reading a time: %w", err)
	}
	*(*time.Time)(p) = t.UTC()
	return nil
}

func (n *instant) pack(b []byte, p unsafe.Pointer) []byte {
	s, nano := uint64(at(p).Unix()), uint64(at(p).Nanosecond())
	return packBits(packBits(b, unsafe.Pointer(&s), 8), unsafe.Pointer(&nano), 8)
}

func (n *instant) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	var s, nano int64
	b, err := unpackBits(b, unsafe.Pointer(&s), 8)
	if err == nil {
		b, err = unpackBits(b, unsafe.Pointer(&nano), 8)
	}
	*(*time.Time)(p) = time.Unix(s, nano).UTC()
	return b, err
}
