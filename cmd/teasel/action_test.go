package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/mcpserver"
)

// action is the part of action.yml that its test runs.
type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Shell, Run string
			Env                            map[string]string
			With                           map[string]string
			Dir                            string `yaml:"working-directory"`
		}
	}
}

// expression matches the expressions of Actions that the action has.
var expression = regexp.MustCompile(`\$\{\{\s*([^}]*?)\s*\}\}`)

// runner runs the steps of a composite action as the runner of Actions does: each script by bash, with files that take outputs,
// additions to PATH and the summary. Steps that use other actions are not run.
type runner struct {
	t       *testing.T
	values  map[string]string // of expressions
	env     []string
	dir     string // of the repository
	summary string
	used    []string // the actions that would have run
}

// value evaluates an expression: a value, or a value compared with a text, joined by &&.
func (r *runner) value(text string) string {
	r.t.Helper()
	if v, ok := r.values[text]; ok {
		return v
	}
	r.t.Fatalf("unknown expression %q", text)
	return ""
}

func (r *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string { return r.value(expression.FindStringSubmatch(m)[1]) })
}

// holds evaluates the condition of a step.
func (r *runner) holds(condition string) bool {
	for part := range strings.SplitSeq(condition, "&&") {
		part = strings.TrimSpace(part)
		rest, negated := strings.CutPrefix(part, "!")
		var is bool
		if name, want, ok := strings.Cut(rest, " == "); ok {
			is = r.value(name) == strings.Trim(want, "'")
		} else if args, ok := strings.CutPrefix(rest, "startsWith("); ok {
			name, prefix, _ := strings.Cut(strings.TrimSuffix(args, ")"), ", ")
			is = strings.HasPrefix(r.value(name), strings.Trim(prefix, "'"))
		} else {
			r.t.Fatalf("unknown condition %q", part)
		}
		if is == negated {
			return false
		}
	}
	return true
}

// run runs the steps until one fails, and returns the exit status of that one, and what it has written.
func (r *runner) run(a *action) (status int, log string) {
	r.t.Helper()
	temp := r.t.TempDir()
	r.summary = filepath.Join(temp, "summary")
	for _, s := range a.Runs.Steps {
		if s.If != "" && !r.holds(s.If) {
			continue
		}
		for _, v := range s.With {
			r.expand(v)
		}
		if s.Uses != "" {
			r.used = append(r.used, s.Uses)
			continue
		}
		if s.Shell != "bash" || s.Run == "" {
			r.t.Fatalf("step %q: expected a script for bash", s.Name)
		}
		output := filepath.Join(temp, "output-"+s.ID)
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.Run)
		cmd.Dir = filepath.Join(r.dir, r.expand(s.Dir))
		cmd.Env = append(os.Environ(), append(r.env, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+r.summary,
			"GITHUB_PATH="+filepath.Join(temp, "path"), "GITHUB_EVENT_NAME="+r.values["github.event_name"])...)
		for name, v := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+r.expand(v))
		}
		out, err := cmd.CombinedOutput()
		log += string(out)
		if err != nil {
			return cmd.ProcessState.ExitCode(), log
		}
		text, _ := os.ReadFile(output)
		for line := range strings.Lines(string(text)) {
			name, v, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.values["steps."+s.ID+".outputs."+name] = v
		}
	}
	return 0, log
}

// readAction reads the action of this repository.
func readAction(t *testing.T) *action {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" {
		t.Fatalf("action.yml is no composite action: %q", a.Runs.Using)
	}
	return &a
}

// newRunner returns a runner of the action for an event, with inputs.
func newRunner(t *testing.T, a *action, dir, event string, inputs map[string]string) *runner {
	t.Helper()
	r := &runner{t: t, dir: dir, values: map[string]string{"github.event_name": event, "github.action_path": "/nowhere", "github.run_id": "1", "github.run_attempt": "1",
		"github.token": "secret", "github.event.pull_request.number": "17", "github.event.pull_request.base.sha": "", "steps.fuzz.outputs.sarif": ""}}
	for name, in := range a.Inputs {
		v, given := inputs[name]
		if in.Required && !given {
			t.Fatalf("input %s is missing", name)
		}
		if !given {
			v = r.expand(in.Default)
		}
		r.values["inputs."+name] = v
	}
	for name := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
	}
	tools := t.TempDir()
	gh := `#!/bin/sh
if [ "$2" = --paginate ]; then echo "gh $*" >&2; echo "$GH_COMMENT"; exit; fi
echo "gh $*"
for a; do case $a in body=@*) test -s "${a#body=@}" && cat "${a#body=@}";; esac; done
exit "${GH_STATUS:-0}"
`
	if err := os.WriteFile(filepath.Join(tools, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	r.env = []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "GITHUB_REPOSITORY=example/repo", "XDG_CACHE_HOME=" + cache}
	return r
}

// sample writes a repository with a target of a kind that has a bug, and returns the inputs for the action.
func sample(t *testing.T, kind, dir string) map[string]string {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := map[string]string{"kind": kind, "duration": "0s", "comment": "true"}
	switch kind {
	case "mcp":
		in["command"], in["args"] = "teasel demo-server", "--runs 1500 --seed 1"
	case "native":
		requireProgram(t, "clang")
		write("harness.c", `#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > 0 && data[0] == 'A') __builtin_trap();
	return 0;
}
`)
		cmd := exec.CommandContext(t.Context(), "teasel", "cc", "-g", "-fsanitize=fuzzer", "harness.c", "-o", "a harness")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		in["command"], in["args"] = "'./a harness'", "--runs 200000 --stop-after 1 --seed 1"
	case "go":
		write("go.mod", "module example.com/m\n\ngo 1.26\n")
		write("parse.go", "package m\n\nfunc Parse(b []byte) byte { return b[0] }\n")
		write("parse_test.go", "package m\n\nimport \"testing\"\n\nfunc FuzzParse(f *testing.F) { f.Fuzz(func(_ *testing.T, b []byte) { Parse(b) }) }\n")
		in["command"], in["args"] = "./...", "--runs 2000 --stop-after 1 --seed 1"
	case "net":
		requireProgram(t, "clang")
		write("server.c", netSample)
		cmd := exec.CommandContext(t.Context(), "clang", "server.c", "-o", "server")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		in["command"] = "./server {port}"
		in["args"] = fmt.Sprintf("--connect 127.0.0.1:{port} --runs 400 --stop-after 1 --seed 1 --user %d", os.Getuid())
	}
	return in
}

// netSample is a server that dies of a long line.
const netSample = `#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(s, (void *)&a, sizeof a) || listen(s, 8)) return 1;
	for (;;) {
		int c = accept(s, 0, 0);
		char b[256];
		ssize_t n;
		while ((n = read(c, b, sizeof b)) > 0) {
			if (n > 40) abort();
			write(c, "ok\n", 3);
		}
		close(c);
	}
}
`

func requireProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// The action's steps find the bug of a repository of each kind, report it, keep the campaign, and know it for the next pull request.
func TestAction(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	for _, kind := range []string{"mcp", "net", "native", "go"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, place := t.TempDir(), filepath.Join(t.TempDir(), "packs")
			in := sample(t, kind, dir)
			in["corpus"] = place

			night := newRunner(t, a, dir, "schedule", in)
			status, log := night.run(a)
			if status != 1 || night.values["steps.fuzz.outputs.status"] != "1" {
				t.Fatalf("the night ended with status %d\n%s", status, log)
			}
			if !slices.ContainsFunc(night.used, func(u string) bool { return strings.HasPrefix(u, "actions/cache/save@") }) || strings.Contains(log, "gh api") {
				t.Errorf("the night used %q\n%s", night.used, log)
			}
			if packs, err := filepath.Glob(place + "/*.zip"); err != nil || len(packs) == 0 {
				t.Errorf("no testcase was pushed: %v\n%s", err, log)
			}
			checkReports(t, night, kind)

			in["args"] = strings.ReplaceAll(in["args"], "--stop-after 1", "")
			if kind == "native" || kind == "net" || kind == "go" { // one bug, which is known
				in["args"] = strings.NewReplacer("200000", "3000", "2000", "300", "400", "100").Replace(in["args"])
				pull := newRunner(t, a, dir, "pull_request", in)
				status, log = pull.run(a)
				if status != 0 || !strings.Contains(log, "gh api repos/example/repo/issues/17/comments --field body=@") || !strings.Contains(log, "<!-- teasel-"+kind+"-main -->") {
					t.Errorf("the pull request ended with status %d\n%s", status, log)
				}
				if slices.ContainsFunc(pull.used, func(u string) bool { return strings.HasPrefix(u, "actions/cache/save@") }) {
					t.Errorf("a pull request wrote to the cache: %q", pull.used)
				}
			}
		})
	}
}

// What cannot be reached keeps back nothing else: a pull request from a fork has no secrets and a token that only reads, and what a night has
// found is reported and kept when its testcases cannot be pushed. A comment that is there is edited, and it is the one of the same target.
func TestActionUnreached(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	place := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(place, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	artifact := func(r *runner) bool {
		return slices.ContainsFunc(r.used, func(u string) bool { return strings.HasPrefix(u, "actions/upload-artifact@") })
	}
	dir := t.TempDir()
	in := sample(t, "go", dir)
	in["corpus"], in["fail-on"] = place, "never"
	fork := newRunner(t, a, dir, "pull_request", in)
	fork.env = append(fork.env, "GH_STATUS=1")
	if status, log := fork.run(a); status != 0 || !artifact(fork) || strings.Count(log, "::warning::") != 2 {
		t.Errorf("the fork's pull request ended with status %d\n%s", status, log)
	}
	in["corpus"] = ""
	again := newRunner(t, a, dir, "pull_request", in)
	again.env = append(again.env, "GH_COMMENT=99")
	if status, log := again.run(a); status != 0 || !strings.Contains(log, "gh api --method PATCH repos/example/repo/issues/comments/99 ") {
		t.Errorf("the second run ended with status %d\n%s", status, log)
	}

	in["corpus"] = filepath.Join(t.TempDir(), "place")
	in["command"] += `); teasel() { if [ "$2" = push ]; then false; else command teasel "$@"; fi; }; unused=(` // both are evaluated by the shell
	night := newRunner(t, a, dir, "schedule", in)
	status, log := night.run(a)
	if status != 4 || !artifact(night) || !slices.ContainsFunc(night.used, func(u string) bool { return strings.HasPrefix(u, "actions/cache/save@") }) || !strings.Contains(log, "::error::teasel cannot push") {
		t.Errorf("the night ended with status %d, and used %q\n%s", status, night.used, log)
	}
}

// A night begins without testcases that cannot be pulled, and says so. Where there is no report, there is none to upload.
func TestActionWithoutCorpus(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	place := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(place, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := sample(t, "go", dir)
	in["corpus"], in["sarif"] = place, "true"
	uploads := func(r *runner) bool {
		return slices.ContainsFunc(r.used, func(u string) bool { return strings.HasPrefix(u, "github/codeql-action/upload-sarif@") })
	}
	night := newRunner(t, a, dir, "schedule", in)
	status, log := night.run(a)
	if status != 4 || !strings.Contains(log, "::warning::teasel runs without the testcases of "+place) || !strings.Contains(log, "::error::teasel cannot push") || !uploads(night) {
		t.Errorf("the night ended with status %d, and used %q\n%s", status, night.used, log)
	}
	checkReports(t, night, "go")
	in["command"], in["corpus"] = "./nowhere", ""
	broken := newRunner(t, a, dir, "schedule", in)
	if status, log := broken.run(a); status < 2 || uploads(broken) {
		t.Errorf("a run without reports ended with status %d, and used %q\n%s", status, broken.used, log)
	}
}

// A pull request that changes nothing that a target is built from does not fuzz it, and says so; where the commit to compare with is not there,
// it does.
func TestActionChanged(t *testing.T) {
	t.Parallel()
	requireProgram(t, "git")
	a := readAction(t)
	dir := t.TempDir()
	in := sample(t, "go", dir)
	in["changed-only"], in["new-only"] = "true", "false"
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "base")
	base := git("rev-parse", "HEAD")
	pull := func(base, words string, want int) {
		t.Helper()
		r := newRunner(t, a, dir, "pull_request", in)
		r.values["github.event.pull_request.base.sha"] = base
		if status, log := r.run(a); status != want || !strings.Contains(log, words) {
			t.Errorf("status %d, want %d and %q\n%s", status, want, words, log)
		}
	}
	pull(base, "FuzzParse is left out: nothing that has changed since "+base, 0)
	pull(strings.Repeat("0", 39)+"1", "::warning::teasel fuzzes whatever has changed", 1)
	if err := os.WriteFile(filepath.Join(dir, "more.go"), []byte("package m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	pull(base, "go/panic", 1)
}

// checkReports looks at what a run has written.
func checkReports(t *testing.T, r *runner, kind string) {
	t.Helper()
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		return data
	}
	reports := r.values["steps.fuzz.outputs.reports"]
	var run struct {
		Kind     string
		Findings []any
	}
	if err := json.Unmarshal(read(filepath.Join(reports, "report.json")), &run); err != nil || run.Kind != kind || len(run.Findings) == 0 {
		t.Errorf("report.json: %v: %+v", err, run)
	}
	sarif := read(filepath.Join(reports, "report.sarif"))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(sarif))
	if err == nil {
		err = sarifSchema(t).Validate(doc)
	}
	if err != nil {
		t.Errorf("report.sarif: %v", err)
	}
	if kind == "go" && !bytes.Contains(sarif, []byte("parse.go")) || kind == "native" && !bytes.Contains(sarif, []byte(`"startLine": 4`)) {
		t.Errorf("the finding has no line of the source:\n%s", sarif)
	}
	if text := read(r.summary); !bytes.Contains(text, []byte(kind+"/")) {
		t.Errorf("the summary has no rule of %s:\n%s", kind, text)
	}
	for _, name := range []string{"report.xml", "report.html"} {
		if len(read(filepath.Join(reports, name))) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

// sarifSchema returns the official schema.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../../report/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A kind that there is none of, and a target that does not start, fail the job with what was expected.
func TestActionBadInputs(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	for want, in := range map[string]map[string]string{
		"kind 'mpc': expected mcp, net, native or go":           {"kind": "mpc"},
		"name 'a_b': expected letters, digits, dots and dashes": {"kind": "mcp", "name": "a_b"},
		"hint:": {"kind": "mcp", "command": "./not-there"},
	} {
		r := newRunner(t, a, t.TempDir(), "push", in)
		if status, log := r.run(a); status < 2 || !strings.Contains(log, want) {
			t.Errorf("%v: status %d, want %q in\n%s", in, status, want, log)
		}
	}
}

// The examples name inputs that the action has, and are YAML.
func TestCIExamples(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	files, err := filepath.Glob("../../examples/ci/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	steps := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
			Fuzz struct {
				Script []string
			}
		}
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		checkShell(t, file, strings.Join(w.Fuzz.Script, "\n"))
		for _, job := range w.Jobs {
			for _, s := range job.Steps {
				if !strings.HasPrefix(s.Uses, "teaselfuzz/teasel@") {
					continue
				}
				steps++
				for name := range s.With {
					if _, ok := a.Inputs[name]; !ok {
						t.Errorf("%s: the action has no input %s", file, name)
					}
				}
			}
		}
	}
	if steps < 2 {
		t.Errorf("%d examples use the action", steps)
	}
	jenkins, err := os.ReadFile("../../examples/ci/Jenkinsfile")
	if err != nil {
		t.Fatal(err)
	}
	if open, closed := bytes.Count(jenkins, []byte("{")), bytes.Count(jenkins, []byte("}")); open != closed {
		t.Errorf("Jenkinsfile: %d braces are opened and %d closed", open, closed)
	}
	for _, m := range regexp.MustCompile(`(?s)"""(.*?)"""`).FindAllSubmatch(jenkins, -1) {
		checkShell(t, "Jenkinsfile", string(m[1]))
	}
}

// checkShell parses a script, and checks the flags of the campaigns in it.
func checkShell(t *testing.T, file, script string) {
	t.Helper()
	if out, err := exec.Command("bash", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", file, err, out)
	}
	known := mcpserver.NewCommand().Flags()
	for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(script, -1) {
		if known.Lookup(m[1]) == nil {
			t.Errorf("%s: there is no flag --%s", file, m[1])
		}
	}
}

// What go install needs, and what a container should have.
func TestRelease(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b.*`).Find(mod); m != nil {
		t.Errorf("go install refuses a module with %q", m)
	}
	if out, err := exec.CommandContext(t.Context(), "bash", "-n", "../../scripts/release.sh").CombinedOutput(); err != nil {
		t.Errorf("release.sh: %v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "../../scripts/release.sh", "0.2").CombinedOutput(); err == nil || !strings.Contains(string(out), "expected a version such as v0.2.0") {
		t.Errorf("release.sh takes any version: %v: %s", err, out)
	}
	text, err := os.ReadFile("../../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`(?m)^FROM `).FindAllIndex(text, -1)
	if last := text[stages[len(stages)-1][0]:]; len(stages) != 2 || !regexp.MustCompile(`(?m)^USER [1-9]`).Match(last) || bytes.Contains(last, []byte("go build")) {
		t.Errorf("expected two stages, the last one without a compiler and without root:\n%s", text)
	}
	t.Log("the image is not built: no registry of images can be reached from the tests")
	if v, _ := built(); v == "" || strings.HasPrefix(v, "v") {
		t.Errorf("version %q", v)
	}
	var out, errs bytes.Buffer
	if status := run(context.Background(), []string{"version"}, strings.NewReader(""), &out, &errs); status != 0 || !strings.HasPrefix(out.String(), "teasel ") {
		t.Errorf("teasel version: status %d: %s%s", status, out.String(), errs.String())
	}
}
