package netproto

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Every rule has a word that breaks it, and a twin of the server that takes the word and breaks none.
func TestEveryRule(t *testing.T) {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	images := !strings.ContainsAny(string(pattern), "|/@") // of the memory of what dies
	compiled := map[string]string{}
	build := func(name string, flags ...string) {
		compiled[name] = plantedSource(t, "rules.c", "clang", flags...)
	}
	build("plain")
	build("address", "-fsanitize=address")
	build("undefined", "-fsanitize=undefined")
	build("plain clean", "-DCLEAN")
	build("address clean", "-DCLEAN", "-fsanitize=address")
	build("undefined clean", "-DCLEAN", "-fsanitize=undefined")
	seen := map[string]bool{judge.RuleGone: true} // by TestRemoteServerStops: the server is not ours
	for _, tt := range []struct{ word, build, rule, fault string }{
		{"overflow", "address", judge.RuleMemoryError, "overflow:30 < misbehave < main"},
		{"segv", "plain", judge.RuleCrash, "misbehave:36 < main"},
		{"assert", "plain", judge.RulePanic, "planted: testdata/planted/rules.c:0: int misbehave(int, const char *): Assertion `!\"reached\"' failed."},
		{"exit", "plain", judge.RuleExit, ""},
		{"undefined", "undefined", judge.RuleReport, "misbehave:42"},
		{"spin", "plain", judge.RuleHang, ""},
		{"stuck", "plain", judge.RuleStuck, ""},
		{"close", "plain", judge.RuleClosed, ""},
		{"mute", "plain", judge.RuleUnanswered, ""},
		{"flood", "plain", judge.RuleFlood, ""},
		{"big", "plain", judge.RuleLimit, ""},
		{"leak", "plain", judge.RuleMemory, ""},
		{"file", "plain", judge.RuleFiles, ""},
		{"sick", "plain", judge.RuleHealth, ""},
		{"odd", "plain", judge.RuleResponse, ""},
	} {
		seen[tt.rule] = true
		t.Run(tt.word, func(t *testing.T) {
			for _, program := range []string{compiled[tt.build], compiled[tt.build+" clean"]} {
				m, err := model.Load("testdata/planted/rules.yaml")
				if err != nil {
					t.Fatal(err)
				}
				e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}", "{dir}"}, Model: m, Strict: true, Thorough: true,
					Timeout: 200 * time.Millisecond, Memory: 256 << 20, Health: []string{"test", "!", "-e", "{dir}/sick"}})
				in := dialogue.Split(m, []byte(tt.word+"\n"))
				fs, o, err := teasel.Replay(context.Background(), e, Detectors(), in)
				if err != nil {
					t.Fatal(err)
				}
				if program == compiled[tt.build+" clean"] {
					if len(fs) > 0 || o.Exit != teasel.ExitOK {
						t.Errorf("the clean twin: %v, %+v", o.Exit, fs)
					}
					continue
				}
				if len(fs) != 1 || fs[0].Rule != tt.rule || fs[0].Fault != tt.fault && (images || tt.word != "segv") {
					for i := range fs {
						fs[i].Detail = ""
					}
					t.Errorf("%v, findings %+v; want %s at %q", o.Exit, fs, tt.rule, tt.fault)
				}
			}
		})
	}
	t.Run("without symbolizer", func(t *testing.T) {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{compiled["address"], "{port}", "{dir}"}, Env: []string{"ASAN_OPTIONS=symbolize=0"}})
		fs, _, err := teasel.Replay(context.Background(), e, Detectors(), dialogue.Raw([]byte("overflow\n")))
		if err != nil || len(fs) != 1 || fs[0].Rule != judge.RuleMemoryError || fs[0].Fault != "overflow:30 < misbehave < main" {
			t.Errorf("findings %+v, %v", fs, err)
		}
	})
	for _, r := range Rules() {
		if !seen[r.ID] {
			t.Errorf("nothing shows rule %s", r.ID)
		}
		if r.Severity == teasel.SeverityInvalid || r.Title == "" || r.Help == "" {
			t.Errorf("rule %s is not explained", r.ID)
		}
	}
	for _, id := range slices.Concat(CrashRules(), HangRules()) {
		if !seen[id] {
			t.Errorf("there is no rule %s", id)
		}
	}
}
