package gen

import (
	"strconv"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

func sampled(t *testing.T, inputSchema string, words session.Vocabulary, most int) []*mutate.JSON {
	t.Helper()
	root, err := mutate.ParseJSON([]byte(inputSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := new(session.Catalog).Prepare(&session.Tool{Name: "a", InputSchema: root})
	samples := samplesOf(c, words, most)
	for _, v := range samples {
		if err := c.Schema.Validate(v); err != nil {
			t.Errorf("%s does not conform: %v", v, err)
		}
	}
	return samples
}

// TestSamplesHaveAllPairs: each two values of two properties occur together.
func TestSamplesHaveAllPairs(t *testing.T) {
	samples := sampled(t, `{"type":"object","properties":{"a":{"enum":["x","y","z"]},"b":{"type":"boolean"},"c":{"type":"integer","minimum":-3,"maximum":90},
		"d":{"type":"array","items":{"type":"string"},"maxItems":3}},"required":["a","b","c","d"]}`, nil, 64)
	t.Logf("%d samples", len(samples))
	values := map[string][]string{"a": {`"x"`, `"y"`, `"z"`}, "b": {"true", "false"}, "c": {"-3", "90"}}
	for p, ps := range values {
		for q, qs := range values {
			for _, x := range ps {
				for _, y := range qs {
					found := p == q
					for _, v := range samples {
						found = found || v.Get(p).String() == x && v.Get(q).String() == y
					}
					if !found {
						t.Errorf("no sample has %s = %s and %s = %s", p, x, q, y)
					}
				}
			}
		}
	}
	lengths := map[int]bool{}
	for _, v := range samples {
		lengths[len(v.Get("d").Items)] = true
	}
	for n := range 4 {
		if !lengths[n] {
			t.Errorf("no sample has %d items", n)
		}
	}
}

// TestSamplesOfWords: what the server mentions is tried, numbers too, unless the schema forbids it.
func TestSamplesOfWords(t *testing.T) {
	words := session.Vocabulary{"s": {"brief"}, "n": {"brief", "-7", "700"}}
	samples := sampled(t, `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer","maximum":100}},"required":["s","n"]}`, words, 64)
	brief, seven := false, false
	for _, v := range samples {
		brief = brief || v.Get("s").Text == "brief"
		seven = seven || v.Get("n").Text == "-7"
	}
	if !brief || !seven {
		t.Errorf("brief was tried: %v, -7: %v", brief, seven)
	}
}

func TestSamplesAreBounded(t *testing.T) {
	if n := len(sampled(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"string"}}}`, nil, 8)); n > 8 || n < 4 {
		t.Errorf("%d samples, at most 8 were wanted", n)
	}
	if n := len(sampled(t, `{"type":"object","additionalProperties":false}`, nil, 8)); n > 2 {
		t.Errorf("%d samples where there is nothing to choose", n)
	}
}

// TestSamplesOfSmallRanges: of a range of a few integers each stands beside each value of another property.
func TestSamplesOfSmallRanges(t *testing.T) {
	samples := sampled(t, `{"type":"object","properties":{"mode":{"enum":["x","y"]},"options":{"type":"object","properties":{"level":{"type":"integer","minimum":0,"maximum":9}}}},
		"required":["mode"]}`, nil, 64)
	seen := map[string]bool{}
	for _, v := range samples {
		seen[v.Get("mode").Text+v.Get("options").Get("level").String()] = true
	}
	for _, mode := range []string{"x", "y"} {
		for level := range 10 {
			if !seen[mode+strconv.Itoa(level)] {
				t.Errorf("no sample has mode %s and level %d", mode, level)
			}
		}
	}
}
