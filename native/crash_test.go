package native_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// planted are the bugs of planted.c by the byte that leads there.
var planted = []struct {
	byte      string
	rule      string
	severity  teasel.Severity
	function  string
	undefined string // its rule under UndefinedBehaviorSanitizer, if that sees it
	onlyUnder string // sanitizer that it takes
}{
	{"n", "native/null-dereference", teasel.Medium, "null_read", "", ""},
	{"w", "native/invalid-access", teasel.Critical, "wild_write", "", ""},
	{"j", "native/wild-jump", teasel.Critical, "wild_jump", "", ""},
	{"d", "native/arithmetic", teasel.Medium, "divide", "native/undefined-behaviour", ""},
	{"t", "native/trap", teasel.Medium, "trap", "", ""},
	{"a", "native/abort", teasel.Medium, "assertion", "", ""},
	{"e", "native/exit", teasel.Low, "", "", ""},
	{"h", "native/hang", teasel.Medium, "hang", "", ""},
	{"2", "native/double-free", teasel.Critical, "double_free", "", ""},
	{"r", "native/stack-exhaustion", teasel.Medium, "recurse", "", ""},
	{"m", "native/out-of-memory", teasel.Medium, "", "", ""},
	{"H", "native/heap-buffer-overflow", teasel.Critical, "heap_write", "", "address"},
	{"S", "native/stack-buffer-overflow", teasel.Critical, "stack_write", "", "address"},
	{"G", "native/global-buffer-overflow", teasel.High, "global_read", "", "address"},
	{"U", "native/use-after-free", teasel.Critical, "use_after_free", "", "address"},
	{"O", "native/undefined-behaviour", teasel.Medium, "overflow", "", "undefined"},
}

// Every class of crash gets its rule, its severity and the function it is in, in every build; its twin without bugs gets
// none.
func TestCrashes(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{
		{"plain", nil},
		{"address", []string{"-fsanitize=address", "-DSANITIZED"}},
		{"undefined", []string{"-fsanitize=undefined", "-DSANITIZED"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			src := source(t, "planted.c")
			target := native.Target{Command: []string{build(t, src, append(b.flags, "-O1")...)}, Timeout: time.Second, Memory: 128 << 20}
			clean := target
			clean.Command = []string{build(t, src, append(b.flags, "-O1", "-DCLEAN")...)}
			bad, good := open(t, target), open(t, clean)
			for _, p := range planted {
				if p.onlyUnder != "" && p.onlyUnder != b.name {
					continue
				}
				rule := p.rule
				if b.name == "undefined" && p.undefined != "" {
					rule = p.undefined
				}
				for _, a := range []teasel.Ask{{}, {Operands: true}} {
					in := p.byte + "x.."
					if o := run(t, good, a, in); o.Exit != teasel.ExitOK {
						t.Errorf("%s: the twin ended with %v: %s", in, o.Exit, o.Detail)
					}
					check(t, run(t, bad, a, in), in, rule, p.function, p.severity)
				}
			}
		})
	}
}

func check(t *testing.T, o teasel.Observation, in, rule, function string, severity teasel.Severity) {
	t.Helper()
	if o.Exit != teasel.ExitCrash && o.Exit != teasel.ExitHang {
		t.Errorf("%s: exit %v", in, o.Exit)
		return
	}
	fs := native.Detect(&o)
	if len(fs) != 1 {
		t.Fatalf("%s: %d findings", in, len(fs))
	}
	f := fs[0]
	first, _, _ := strings.Cut(f.Group, " < ")
	if f.Rule != rule || f.Severity != severity || function != "" && !strings.HasPrefix(first+":", function+":") || function == "" && f.Group != "" && rule != "native/exit" {
		t.Errorf("%s: %v %s in %q, want %v %s in %q\n%s\n%s", in, f.Severity, f.Rule, f.Group, severity, rule, function, f.Message, f.Detail)
	}
}
