package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// fuzzed is the name of the test that stands for a subject as a whole.
const fuzzed = "fuzz"

// JUnit writes one test suite. A rule that a subject has broken is a test that failed, with all findings of that rule
// there in its text; a subject without a finding is one test that passed, or was skipped. A campaign without either is
// one test that passed, or that was skipped if nothing was tested: CI servers treat a file without tests as an error. A rule of which a
// subject has findings that there was no time to reproduce is a test with an error; one whose findings were tried and not reproduced
// is a test that was skipped. The known findings of a rule are a
// test that was skipped, with the reason; a rule whose known findings are gone is a test that passed.
func JUnit(w io.Writer, r *Run) error {
	name := plain.Line("teasel " + r.Kind + " " + r.Target)
	elapsed := fmt.Sprintf("%.3f", r.Summary.Elapsed.Seconds())
	suite := junit.Testsuite{Name: name, Time: elapsed}
	suite.AddProperty("seed", fmt.Sprint(r.Seed))
	suite.AddProperty("executions", fmt.Sprint(r.Summary.Executions))
	o, why := r.Outcome(), r.unfuzzed()
	fs := o.Found
	suite.AddProperty("outcome", o.String())
	if r.Library != "" {
		suite.AddProperty("library", plain.Line(r.Library))
	}
	ks, gs := r.known(), r.gone()
	for _, f := range o.Library {
		if f.Severity >= o.libraryFails {
			fs = append(fs, f)
		} else {
			ks = append(ks, known{Finding: f, file: r.reproducer(&f), reason: "of " + plain.Line(r.Library) + ", which the target is built on"})
		}
	}
	if r.Baseline != nil {
		suite.AddProperty("known", fmt.Sprint(len(ks)))
		suite.AddProperty("gone", fmt.Sprint(len(gs)))
	}
	for _, subject := range r.tested(why, slices.Concat(fs, o.Untried, o.Unreproduced), ks, gs) {
		failed := r.addFindings(&suite, subject, fs)
		failed = r.addUnconfirmed(&suite, subject, slices.Concat(o.Untried, o.Unreproduced)) || failed
		r.addKnown(&suite, subject, ks, gs)
		switch reason := why[subject]; {
		case reason != "":
			suite.AddTestcase(junit.Testcase{Name: fuzzed, Classname: r.class(subject), Skipped: &junit.Result{Message: reason}})
		case !failed:
			suite.AddTestcase(junit.Testcase{Name: fuzzed, Classname: r.class(subject)})
		}
	}
	if len(suite.Testcases) == 0 {
		test := junit.Testcase{Name: fuzzed, Classname: plain.Line(cmp.Or(r.Kind, "teasel"))}
		if o.Untested {
			test.Skipped = &junit.Result{Message: "nothing was tested"}
		}
		suite.AddTestcase(test)
	}
	suites := junit.Testsuites{Name: name, Time: elapsed}
	suites.AddSuite(suite)
	suites.Skipped = 0 // Jenkins's schema has it for a suite only
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// tested returns the subjects of which there is something to say, in order and each once: those that were fuzzed, those that were not and
// why, those of findings, and those of the known findings that are there and that are gone.
func (r *Run) tested(why map[string]string, fs []teasel.Finding, ks []known, gs []gone) []string {
	subjects := slices.Collect(maps.Keys(why))
	for _, s := range r.Subjects {
		subjects = append(subjects, plain.Line(s))
	}
	for i := range fs {
		subjects = append(subjects, plain.Line(fs[i].Subject))
	}
	for i := range ks {
		subjects = append(subjects, plain.Line(ks[i].Subject))
	}
	for i := range gs {
		if gs[i].Rule != "" {
			subjects = append(subjects, plain.Line(gs[i].Subject))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(subjects)))
}

func (r *Run) class(subject string) string {
	return plain.Line(cmp.Or(r.Kind, "teasel")) + "." + subject
}

// unfuzzed returns why a subject was not fuzzed, or not as it should be.
func (r *Run) unfuzzed() map[string]string {
	why := map[string]string{}
	for _, s := range r.skipped() {
		subject := plain.Line(s.Subject)
		if why[subject] != "" {
			why[subject] += "; "
		}
		why[subject] += cmp.Or(plain.Line(s.Reason), "skipped")
	}
	for _, b := range r.blocked() {
		why[plain.Line(b)] = "blocked because it may destroy something; --allow fuzzes it"
	}
	return why
}

// addFindings adds a failed test for every rule that a subject has broken, and reports whether there is one. Findings of
// severity info become a test that passed, with them as its output. fs are all findings, worst first.
func (r *Run) addFindings(s *junit.Testsuite, subject string, fs []teasel.Finding) (failed bool) {
	broken := map[string][]*teasel.Finding{}
	for i := range fs {
		if f := &fs[i]; plain.Line(f.Subject) == subject {
			broken[plain.Line(f.Rule)] = append(broken[plain.Line(f.Rule)], f)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(broken)) {
		worst, more := broken[rule][0], len(broken[rule])-1
		message := plain.Line(worst.Message)
		if more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		var texts []string
		for _, f := range broken[rule] {
			texts = append(texts, r.failure(f))
		}
		test := junit.Testcase{Name: rule, Classname: r.class(subject)}
		if text := strings.Join(texts, "\n----\n\n"); worst.Severity != teasel.Info {
			test.Failure = &junit.Result{Message: message, Type: worst.Severity.String(), Data: text}
			failed = true
		} else {
			test.SystemOut = &junit.Output{Data: text}
		}
		s.AddTestcase(test)
	}
	return failed
}

// addUnconfirmed adds a test for every rule of which a subject has unconfirmed findings, and reports whether there is one. fs are all
// of them.
func (r *Run) addUnconfirmed(s *junit.Testsuite, subject string, fs []teasel.Finding) (any bool) {
	class, taken := r.class(subject), map[string]bool{}
	for _, t := range s.Testcases {
		taken[t.Classname+" "+t.Name] = true
	}
	for i := range fs {
		f := &fs[i]
		name := plain.Line(f.Rule)
		if taken[class+" "+name] {
			name += " (unconfirmed, " + f.ID() + ")"
		}
		if plain.Line(f.Subject) != subject || taken[class+" "+name] {
			continue
		}
		any, taken[class+" "+name] = true, true
		test := junit.Testcase{Name: name, Classname: class}
		if f.Tries > 0 {
			test.Skipped = &junit.Result{Message: "seen, and not reproduced: " + plain.Line(f.Message)}
		} else {
			test.Error = &junit.Result{Message: "seen, and there was no time to reproduce: " + plain.Line(f.Message), Type: f.Severity.String(), Data: r.failure(f)}
		}
		s.AddTestcase(test)
	}
	return any
}

// addKnown adds a test for every rule of which a subject has known findings, or of which all known findings are gone.
func (r *Run) addKnown(s *junit.Testsuite, subject string, ks []known, gs []gone) {
	class, taken := r.class(subject), map[string]bool{}
	for _, t := range s.Testcases {
		if t.Classname == class {
			taken[t.Name] = true
		}
	}
	broken := map[string][]*known{}
	for i := range ks {
		if k := &ks[i]; plain.Line(k.Subject) == subject {
			broken[plain.Line(k.Rule)] = append(broken[plain.Line(k.Rule)], k)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(broken)) {
		var texts []string
		for _, k := range broken[rule] {
			text := r.failure(&k.Finding)
			if k.Tries == 0 && k.file != "" {
				text = fmt.Sprintf("%s\n\nseverity: %v\n\nteasel repro %s\n", plain.Line(k.Message), k.Severity, plain.Quote(k.file))
			}
			texts = append(texts, text)
		}
		name := rule
		if taken[rule] { // by new findings
			name += " (known)"
		}
		taken[rule] = true
		s.AddTestcase(junit.Testcase{Name: name, Classname: class, Skipped: &junit.Result{Message: "known, " + broken[rule][0].reason},
			SystemOut: &junit.Output{Data: strings.Join(texts, "\n----\n\n")}})
	}
	for i := range gs {
		g := &gs[i]
		if rule := plain.Line(g.Rule); rule != "" && plain.Line(g.Subject) == subject && !taken[rule] {
			taken[rule] = true
			s.AddTestcase(junit.Testcase{Name: rule, Classname: class, SystemOut: &junit.Output{Data: "known before, and not found by this run: " + g.String()}})
		}
	}
}

// failure is the text of a finding.
func (r *Run) failure(f *teasel.Finding) string {
	text := fmt.Sprintf("%s\n\nseverity: %v\nseen: %d\nreproduced: %d of %d\n", plain.Line(f.Message), f.Severity, f.Occurrences, f.Stable, f.Tries)
	if f.Detail != "" {
		text += "\n" + plain.Text(f.Detail) + "\n"
	}
	if c := r.again(f); c != "" {
		text += "\n" + plain.Text(c) + "\n"
	}
	if c := r.byHand(f); c != "" {
		text += plain.Text(c) + "\n"
	}
	return text
}
