package typed_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// exactly writes a value so that two texts are equal only if the values are the same to the last bit: nil is not empty, a NaN is its bits,
// and maps are lists in the order of their texts.
func exactly(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float32:
		return fmt.Sprintf("%#x", *(*uint32)(v.Addr().UnsafePointer()))
	case reflect.Float64:
		return fmt.Sprintf("%#x", *(*uint64)(v.Addr().UnsafePointer()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		e := reflect.New(v.Elem().Type()).Elem()
		e.Set(v.Elem())
		return fmt.Sprintf("&%v(%s)", e.Type(), exactly(e))
	case reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		return list(v)
	case reflect.Array:
		return list(v)
	case reflect.Map:
		if v.IsNil() {
			return "nil"
		}
		var entries []string
		for it := v.MapRange(); it.Next(); {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.Set(it.Key())
			e.Set(it.Value())
			entries = append(entries, exactly(k)+":"+exactly(e))
		}
		return sorted(entries)
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return fmt.Sprintf("%d.%d %v", t.Unix(), t.Nanosecond(), t == t.Round(0).UTC())
		}
		var parts []string
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				parts = append(parts, exactly(v.Field(i)))
			}
		}
		return fmt.Sprint(parts)
	}
	return fmt.Sprintf("%#v", v.Interface())
}

func list(v reflect.Value) string {
	var parts []string
	for i := range v.Len() {
		parts = append(parts, exactly(v.Index(i)))
	}
	return fmt.Sprintf("[%s]", strings.Join(parts, " "))
}

func sorted(parts []string) string {
	m := map[string]int{}
	for _, p := range parts {
		m[p]++
	}
	return fmt.Sprint(m) // which package fmt sorts
}

// keeps fails the test unless each value comes back from its text, from its packed form and from a copy as what it was.
func keeps[T any](t *testing.T, m typed.Mutator[T], values ...T) {
	t.Helper()
	p, err := m.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		want := exactly(reflect.ValueOf(&values[i]).Elem())
		v, err := p.Take(unsafe.Pointer(&values[i]))
		if err != nil {
			t.Errorf("%T %s: %v", values[i], want, err)
			continue
		}
		text, err := p.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		check := func(how string, p unsafe.Pointer) {
			if got := exactly(reflect.NewAt(reflect.TypeFor[T](), p).Elem()); got != want {
				t.Errorf("%T: %s as %s is %s, want %s", values[i], how, text, got, want)
			}
		}
		check("what runs,", p.Argument(v))
		if back, err := p.Decode(text); err != nil {
			t.Errorf("%T %s: %v", values[i], want, err)
		} else {
			check("what is read", back.Pointer())
		}
		if back, err := p.Unpack(p.Pack(nil, v)); err != nil {
			t.Errorf("%T %s: %v", values[i], want, err)
		} else {
			check("what is unpacked", back.Pointer())
		}
	}
}

type rawList struct{}

func (rawList) Generate(r *teasel.Rand) []int             { return nil }
func (rawList) Mutate(r *teasel.Rand, _, src []int) []int { return src }
func (rawList) Complexity(in []int) float64               { return float64(len(in)) }

// A value is the same after it was written and read, for every type and whatever it is.
func TestExact(t *testing.T) {
	nan64, nan32 := math.Float64frombits, math.Float32frombits
	keeps(t, typed.Of[float64](), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), nan64(0x7ff0000000000001), nan64(0xfff8000000000001),
		nan64(0x7ff8000000000000), math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 1<<53+2)
	keeps(t, typed.Of[float32](), 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), nan32(0x7f800001), nan32(0xffc00000), nan32(0x7fc00001),
		math.MaxFloat32, math.SmallestNonzeroFloat32, 0.1)
	keeps(t, typed.Of[complex64](), complex(nan32(0x7f800001), 1), complex(0, float32(math.Copysign(0, -1))))
	keeps(t, typed.Of[[]float32](), nil, []float32{}, []float32{nan32(0xff800001)})
	keeps(t, typed.Of[int64](), math.MinInt64, math.MaxInt64, -1)
	keeps(t, typed.Of[uint64](), 0, math.MaxUint64, 1<<53+1)
	keeps(t, typed.Of[int8](), math.MinInt8, math.MaxInt8)
	keeps(t, typed.Of[rune](), 0xd800, 0x110000, -1, '\ufffd')
	keeps(t, typed.Of[time.Duration](), math.MinInt64, math.MaxInt64)
	keeps(t, typed.Of[string](), "", "\xff", "\xed\xa0\x80", "\ufffd", "\u2028", `{"hex":"ff"}`, "a\x00\x7f\"\\")
	keeps(t, typed.Of[[]byte](), nil, []byte{}, []byte{0xff}, []byte("null"))
	keeps(t, typed.Of[[][]byte](), nil, [][]byte{}, [][]byte{nil, {}, {0}})
	keeps(t, typed.Of[*[]byte](), nil, new([]byte), &[]byte{})
	keeps(t, typed.Of[***int](), nil, new(**int), func() ***int { p := new(int); q := &p; return &q }())
	keeps(t, typed.Of[*map[string]int](), nil, new(map[string]int), &map[string]int{})
	keeps(t, typed.Of[map[string][]int](), nil, map[string][]int{}, map[string][]int{"": nil, "a": {}, "\xff": {1}, "hex": {}})
	keeps(t, typed.Of[map[float64]int](), map[float64]int{math.NaN(): 1, nan64(0x7ff0000000000001): 2}, map[float64]int{math.NaN(): 1, math.NaN(): 2},
		map[float64]int{math.Copysign(0, -1): 1}, map[float64]int{math.Inf(1): 1, 2: 2})
	a, b := "same", "same"
	keeps(t, typed.Of[map[*string]int](), map[*string]int{&a: 1, &b: 2, nil: 3}, map[*string]int{&a: 1, &b: 1})
	keeps[any](t, typed.Of[any](), nil, any([]any(nil)), []any{}, map[string]any{}, any(map[string]any(nil)), []any{nil, math.Copysign(0, -1), "\xff", false})
	keeps(t, typed.Of[struct{}](), struct{}{})
	keeps(t, typed.Of[[]struct{}](), nil, []struct{}{}, []struct{}{{}, {}})
	keeps(t, typed.Of[[0]int](), [0]int{})
	type tree struct {
		Left, Right *tree
		M           map[bool]*tree
	}
	keeps(t, typed.Of[tree](), tree{}, tree{Left: &tree{}}, tree{M: map[bool]*tree{}}, tree{M: map[bool]*tree{true: nil, false: {M: nil}}})
	keeps(t, typed.Of[time.Time](), time.Time{}, time.Unix(0, 1).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Unix(1<<40, 7).UTC(),
		time.Unix(-1<<40, 0).UTC(), time.Unix(math.MaxInt64, 999999999).UTC())
	keeps(t, typed.Of[map[time.Time]int](), map[time.Time]int{time.Unix(1<<40, 0).UTC(): 1, time.Unix(0, 0).UTC(): 2})
	keeps(t, typed.Of[*[]int](typed.Use(typed.Custom[[]int](rawList{}))), nil, new([]int), &[]int{}, &[]int{1})
}

// What cannot be saved does not run either: the location of a time, and fields that are ignored.
func TestRunsWhatIsSaved(t *testing.T) {
	type moment struct {
		At     time.Time
		Pair   [2]time.Time
		hidden int
		Left   []int `fuzz:"-"`
	}
	zone := time.FixedZone("here", 3600)
	in := moment{At: time.Now(), Pair: [2]time.Time{time.Unix(5, 0).In(zone)}, hidden: 7, Left: []int{1}}
	p, err := typed.Of[moment]().Plan()
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Take(unsafe.Pointer(&in))
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	back, err := p.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if run, read := *(*moment)(p.Argument(v)), *(*moment)(p.Argument(back)); !reflect.DeepEqual(run, read) {
		t.Errorf("%+v runs, and %+v is read", run, read)
	}
}
