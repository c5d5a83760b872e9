package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/teaselfuzz/teasel"
)

// JUnit writes a test suite for every subject of the target, with a test case for every rule that it could have
// broken. A finding is a failure; what was skipped or blocked is a suite with one skipped test.
func JUnit(w io.Writer, r *Run) error {
	suites := junit.Testsuites{Name: line("teasel " + r.Kind + " " + r.Target), Time: fmt.Sprintf("%.3f", r.Summary.Elapsed.Seconds())}
	fs, rules := r.findings(), r.rules()
	subjects := slices.Clone(r.Subjects)
	for i := range fs {
		subjects = append(subjects, fs[i].Subject)
	}
	add := func(s junit.Testsuite) {
		s.ID, s.Time = len(suites.Suites), "0.000"
		s.AddProperty("seed", fmt.Sprint(r.Seed))
		suites.AddSuite(s)
	}
	for _, subject := range slices.Compact(slices.Sorted(slices.Values(subjects))) {
		s := junit.Testsuite{Name: line(subject)}
		for _, rule := range rules {
			r.addCases(&s, &rule, subject, fs)
		}
		add(s)
	}
	skip := func(subject, reason string) {
		s := junit.Testsuite{Name: line(subject)}
		s.AddTestcase(junit.Testcase{Name: "fuzz", Classname: r.class(subject), Skipped: &junit.Result{Message: line(reason)}})
		add(s)
	}
	for _, s := range r.skipped() {
		skip(s.Subject, s.Reason)
	}
	for _, b := range r.blocked() {
		skip(b, "blocked because it may destroy something; --allow fuzzes it")
	}
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (r *Run) class(subject string) string { return line(cmp.Or(r.Kind, "teasel") + "." + subject) }

// addCases adds a failed test for every finding of a rule and a subject, or one that passed.
func (r *Run) addCases(s *junit.Testsuite, rule *teasel.Rule, subject string, fs []teasel.Finding) {
	n := 0
	for i := range fs {
		f := &fs[i]
		if f.Rule != rule.ID || f.Subject != subject {
			continue
		}
		name := line(f.Rule)
		if n++; n > 1 {
			name = fmt.Sprintf("%s (%s)", name, f.ID()) // the names of tests are unique
		}
		text := fmt.Sprintf("%s\n\nseverity: %v\nseen: %d\nshown again: %d of %d\n", line(f.Message), f.Severity, f.Occurrences, f.Stable, f.Tries)
		if f.Detail != "" {
			text += "\n" + plain(f.Detail) + "\n"
		}
		if c := r.repro(f); c != "" {
			text += "\n" + plain(c) + "\n"
		}
		s.AddTestcase(junit.Testcase{Name: name, Classname: r.class(subject),
			Failure: &junit.Result{Message: line(f.Message), Type: f.Severity.String(), Data: text}})
	}
	if n == 0 && (r.Applies == nil || r.Applies(*rule, subject)) {
		s.AddTestcase(junit.Testcase{Name: line(rule.ID), Classname: r.class(subject)})
	}
}
