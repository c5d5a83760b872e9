package forecast

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What an outcome depends on is learnt from some hundred inputs, be it a byte, two of them, a word anywhere or a length, of inputs that are
// long and short, where the outcome is rare, where it is common, and where it comes one time in four. What depends on nothing in the input is expected of few.
func TestForecast(t *testing.T) {
	for name, outcome := range map[string]func(in []byte) bool{
		"a byte":           func(in []byte) bool { return len(in) > 0 && in[0]%16 == 1 },
		"two causes":       func(in []byte) bool { return len(in) > 0 && in[0]%4 == 1 || len(in) > 2 && in[2]%8 == 3 },
		"two bytes":        func(in []byte) bool { return len(in) > 1 && in[0] == 'a' && in[1] > 'b' },
		"a word":           func(in []byte) bool { return bytes.Contains(in, []byte("die")) },
		"short":            func(in []byte) bool { return len(in) < 4 },
		"a word, at times": func(in []byte) bool { return bytes.Contains(in, []byte("die")) },
		"most of them":     func(in []byte) bool { return len(in) == 0 || in[0] != '{' },
	} {
		r := rand.New(rand.NewPCG(1, 2))
		base := [][]byte{[]byte("abcdefgh"), []byte(`{"name":"x","arguments":{"text":"some words"}}`), bytes.Repeat([]byte("zx"), 300), []byte("q")}
		var f Forecast
		made := func() []byte {
			in := bytes.Clone(base[r.IntN(len(base))])
			for range 1 + r.IntN(3) {
				switch i := r.IntN(len(in) + 1); r.IntN(5) {
				case 0:
					in = append(in[:i:i], append([]byte("die"), in[i:]...)...)
				case 1:
					in = in[:i]
				case 2:
					in = append([]byte{byte(r.IntN(256))}, in...)
				default:
					if i < len(in) {
						in[i] = byte(r.IntN(256))
					} else if len(in) > 0 {
						in[0] = byte(r.IntN(256))
					}
				}
			}
			return in
		}
		for range 3000 {
			in := made()
			if f.Expects(in) && r.IntN(5) > 0 { // it is left out, but for some
				continue
			}
			f.Learn(in, outcome(in) && (name != "a word, at times" || r.IntN(4) == 0))
		}
		var right, missed, wrong, no int
		for range 10_000 {
			in := made()
			switch expects := f.Expects(in); {
			case outcome(in) && expects:
				right++
			case outcome(in):
				missed++
			case expects:
				wrong++
			default:
				no++
			}
		}
		least := 8 * wrong // of those that are not expected
		if name == "most of them" {
			least = wrong
		}
		if name == "a word, at times" {
			right *= 4 // nothing in an input makes the outcome certain
		}
		if right <= missed || no < least {
			t.Errorf("%s: %d expected, %d missed; %d expected without, %d not", name, right, missed, wrong, no)
		}
	}
}

func BenchmarkForecast(b *testing.B) {
	var f Forecast
	in := bytes.Repeat([]byte("some words "), 50)
	f.Learn(in, true)
	for b.Loop() {
		f.Expects(in)
	}
}
