package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifHome    = "https://github.com/teaselfuzz/teasel"
	sarifResults = 25000 // GitHub takes no more in one run
	sarifText    = 1024  // nor longer descriptions
)

// security is GitHub's score for a severity: above 9 critical, above 7 high, above 4 medium.
// Information has none, so that code scanning does not rate it as a security problem.
var security = map[teasel.Severity]string{teasel.Low: "2.0", teasel.Medium: "5.5", teasel.High: "8.0", teasel.Critical: "9.5"}

var levels = map[teasel.Severity]string{teasel.Info: "note", teasel.Low: "note", teasel.Medium: "warning", teasel.High: "error", teasel.Critical: "error"}

var semantic = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?)$`)

// SARIF writes the findings in SARIF 2.1.0, with what GitHub code scanning needs to show them: rules with help,
// severity and tags, a location in the repository and a fingerprint for each finding (GitHub's page "SARIF support for
// code scanning"). The fingerprint is the finding's id, so that an alert lives as long as its bug.
//
// Compared with a baseline, a result is new or unchanged; an accepted one is suppressed, with the reason. What is gone is a
// notification and no absent result: code scanning takes every result for an open alert.
//
// A finding that there was no time to reproduce, which fails a run as well, is a result with level note; one that was tried and not
// reproduced is a notification.
func SARIF(w io.Writer, r *Run) error {
	log := sarif.NewReport()
	log.Schema = sarifSchema
	run := sarif.NewRunWithInformationURI("teasel", sarifHome)
	driver := run.Tool.Driver.WithVersion(r.version()).WithOrganization("teasel")
	if m := semantic.FindStringSubmatch(r.Version); m != nil {
		driver.WithSemanticVersion(m[1])
	}
	rules, fs := r.rules(), r.findings()
	for i := range rules {
		driver.AddRule(r.sarifRule(&rules[i], fs))
	}
	run.AutomationDetails = sarif.NewRunAutomationDetails().WithID("teasel/" + slug(r.Target) + "/")
	run.WithColumnKind("utf16CodeUnits")
	invocation := sarif.NewInvocation().WithExecutionSuccessful(r.Summary.Stopped != "failed" && r.Untested == "").
		WithProperties(sarif.NewPropertyBag().Add("seed", fmt.Sprint(r.Seed)).Add("executions", r.Summary.Executions).
			Add("seconds", round(r.Summary.Elapsed.Seconds(), 3)))
	for _, g := range r.gone() {
		said := sarif.NewTextMessage(unlinked("known before, and not found by this run: " + g.String()))
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel("note").WithMessage(said))
	}
	outcome := r.Outcome()
	invocation.Properties.Add("outcome", outcome.String())
	for i := range outcome.Unreproduced {
		f := &outcome.Unreproduced[i]
		said := sarif.NewTextMessage(unlinked("seen, and not reproduced: " + f.Severity.String() + " " + plain.Line(f.Rule+"  "+f.Subject+": "+f.Message)))
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel("note").WithMessage(said))
	}
	run.AddInvocation(invocation)
	run.WithProperties(sarif.NewPropertyBag().Add("coverage", r.jsonCoverage()).Add("features", r.Summary.Features).Add("corpus", r.Summary.Corpus))
	fs = slices.Concat(fs, slices.DeleteFunc(r.pending(), func(f teasel.Finding) bool { return f.Tries > 0 }))
	for i := range fs[:min(len(fs), sarifResults)] {
		index := slices.IndexFunc(rules, func(u teasel.Rule) bool { return u.ID == fs[i].Rule })
		run.AddResult(r.sarifResult(&fs[i], index))
	}
	log.AddRun(run)
	out, err := json.MarshalIndent(log, "", "  ")
	if err == nil && r.Baseline != nil && len(r.Baseline.Accepted) > 0 {
		out, err = unsuppressed(out)
	}
	if err == nil {
		_, err = w.Write(append(out, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// unsuppressed gives every result of a log that has none an empty list of suppressions, which the library leaves out: SARIF
// wants one of all results of a run or of none (3.27.23).
func unsuppressed(whole []byte) ([]byte, error) {
	var log map[string]any
	d := json.NewDecoder(bytes.NewReader(whole))
	d.UseNumber()
	if err := d.Decode(&log); err != nil {
		return nil, err
	}
	for _, run := range log["runs"].([]any) {
		results, _ := run.(map[string]any)["results"].([]any)
		for _, r := range results {
			if result := r.(map[string]any); result["suppressions"] == nil {
				result["suppressions"] = []any{}
			}
		}
	}
	return json.MarshalIndent(log, "", "  ")
}

func (r *Run) sarifRule(u *teasel.Rule, fs []teasel.Finding) *sarif.ReportingDescriptor {
	// The configuration may have changed the severity of findings, and a rule has only one.
	severity, precision := u.Severity, "very-high"
	worst := teasel.SeverityInvalid
	for i := range fs {
		if fs[i].Rule == u.ID {
			worst = max(worst, fs[i].Severity)
			if !fs[i].Confirmed() {
				precision = "medium"
			}
		}
	}
	if worst != teasel.SeverityInvalid {
		severity = worst
	}
	help := plain.Text(u.Help)
	markdown := "## " + plain.Line(u.Title) + "\n\n" + escape(help)
	if u.Source != "" {
		help += "\n\nSource: " + plain.Line(u.Source)
		markdown += "\n\nSource: " + escape(plain.Line(u.Source))
	}
	first, _, _ := strings.Cut(plain.Text(u.Help), "\n\n")
	name := path.Base(u.ID)
	tags := []string{"fuzzing"}
	rating := security[severity]
	if rating != "" {
		tags = []string{"security", "fuzzing"}
	}
	if r.Kind != "" {
		tags = append(tags, r.Kind)
	}
	props := sarif.NewPropertyBag().WithTags(tags).Add("precision", precision)
	if rating != "" {
		props.Add("security-severity", rating)
	}
	d := sarif.NewReportingDescriptor().WithID(u.ID).WithName(name).WithProperties(props).
		WithShortDescription(text(plain.Line(u.Title))).WithFullDescription(text(plain.Line(first))).
		WithHelp(sarif.NewMultiformatMessageString().WithText(help).WithMarkdown(markdown))
	if level := levels[severity]; level != "" {
		d.WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level))
	}
	if strings.HasPrefix(u.Source, "https://") && !strings.ContainsAny(u.Source, " \n") {
		d.WithHelpURI(u.Source)
	}
	return d
}

func text(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(shorten(s))
}

func shorten(s string) string {
	if rs := []rune(s); len(rs) > sarifText {
		return string(rs[:sarifText-3]) + "..."
	}
	return s
}

func (r *Run) sarifResult(f *teasel.Finding, rule int) *sarif.Result {
	message, unconfirmed := plain.Line(f.Subject+": "+f.Message)+r.inTest(f), r.isUnconfirmed(f)
	if unconfirmed {
		message = "Unconfirmed: seen, and there was no time to reproduce. " + message
	}
	if u := unsaved(f); u != "" {
		message += "\n" + u
	}
	if c := r.repro(f); c != "" {
		message += "\nTo see it again: " + plain.Line(c)
	}
	props := sarif.NewPropertyBag().Add("severity", f.Severity.String()).Add("stable", f.Confirmed()).
		Add("occurrences", f.Occurrences)
	if unconfirmed {
		props.Add("unconfirmed", true)
	}
	if p := r.reproducer(f); p != "" {
		props.Add("reproducer", p)
	}
	file, line := r.location(f)
	where := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewArtifactLocation().WithURI(file)).
		WithRegion(sarif.NewRegion().WithStartLine(line).WithStartColumn(1).WithEndLine(line).WithEndColumn(2))
	place := sarif.NewLocation().WithPhysicalLocation(where)
	var functions []*sarif.LogicalLocation
	for _, name := range []string{plain.Line(f.Subject), plain.Line(r.test(f))} {
		if name != "" {
			functions = append(functions, sarif.NewLogicalLocation().WithFullyQualifiedName(name).WithKind("function"))
		}
	}
	if functions != nil {
		place.WithLogicalLocations(functions)
	}
	res := sarif.NewRuleResult(f.Rule).WithRuleIndex(rule).WithMessage(sarif.NewTextMessage(unlinked(message))).
		WithLocations([]*sarif.Location{place}).WithProperties(props).
		WithOccurrenceCount(int(min(max(f.Occurrences, 1), math.MaxInt32)))
	if r.Baseline != nil && r.Baseline.Path != "" {
		res.WithBaselineState("new")
		if r.Baseline.earlier(f.ID()) {
			res.WithBaselineState("unchanged")
		}
	}
	if a := r.Baseline.accepted(f.ID()); a != nil {
		res.AddSuppression(sarif.NewSuppression().WithKind("external").WithStatus("accepted").WithJustification(plain.Line(a.Reason)))
	}
	res.PartialFingerprints = map[string]string{"primaryLocationLineHash": f.ID(), "teaselFinding/v1": f.ID()}
	if level := levels[f.Severity]; unconfirmed {
		res.WithLevel("note") // code scanning takes no result of kind open
	} else if level != "" {
		res.WithLevel(level)
	}
	return res
}

// location returns the path, relative to the root of the repository, of the file that a finding is shown at, and the line. A file
// outside the repository gets a path in it: GitHub refuses the whole report otherwise.
func (r *Run) location(f *teasel.Finding) (path string, line int) {
	file, line := "", 0
	if r.Line != nil {
		file, line = r.Line(*f)
	} else {
		file, line = r.sourceLine(f)
	}
	root, err := filepath.Abs(r.Root)
	if err != nil || line < 1 {
		return r.fileOf(f), 1
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	rel, err := filepath.Rel(resolve(root), resolve(file))
	if err != nil || !filepath.IsLocal(rel) {
		return r.fileOf(f), 1
	}
	return uri(rel), line
}

// fileOf is the location of a finding whose line is not known.
func (r *Run) fileOf(f *teasel.Finding) string {
	file := filepath.FromSlash(r.Source)
	if file == "" {
		if file = filepath.FromSlash(r.reproducer(f)); file == "" {
			file = filepath.Join("findings", f.ID()+".json")
		}
	}
	root, err := filepath.Abs(r.Root)
	if err == nil {
		abs := file
		if !filepath.IsAbs(abs) {
			if r.Source != "" {
				abs = filepath.Join(root, abs)
			} else if abs, err = filepath.Abs(abs); err != nil {
				abs = file
			}
		}
		if rel, err := filepath.Rel(resolve(root), resolve(abs)); err == nil && filepath.IsLocal(rel) {
			return uri(rel)
		}
	}
	return uri(filepath.Join("teasel-out", "findings", f.ID()+".json"))
}

// resolve follows symbolic links as far as the path exists, as GitHub wants.
func resolve(p string) string {
	if q, err := filepath.EvalSymlinks(p); err == nil {
		return q
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(resolve(dir), filepath.Base(p))
	}
	return p
}

func uri(file string) string {
	return strings.TrimPrefix((&url.URL{Path: filepath.ToSlash(file)}).String(), "./")
}

// slug returns a text as a part of an id whose parts are separated by slashes.
func slug(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	}), "-")
	if s = strings.Trim(s[:min(len(s), 100)], ".-"); s == "" {
		return "target"
	}
	return s
}

// unlinked keeps a message of the target from becoming a link: [text](place) is one in SARIF's messages.
func unlinked(s string) string { return strings.ReplaceAll(s, "](", "] (") }

// escape escapes a plain text for Markdown.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `&lt;`, ">", `&gt;`,
		"#", `\#`, "|", `\|`).Replace(s)
}
