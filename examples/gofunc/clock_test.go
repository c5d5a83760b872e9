package clock

import "testing"

func FuzzMinutes(f *testing.F) {
	f.Add("09:30")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := Minutes(text); err == nil && (n < 0 || n >= 24*60) {
			t.Errorf("Minutes(%q) = %d", text, n)
		}
	})
}
