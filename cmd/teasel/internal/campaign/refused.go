package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/isolation"
)

// WithSandbox returns what makes the same detectors, whose findings say what the sandbox has refused to the program, where it has said so
// itself: a fault may be no more than that a file could not be written to. Without a sandbox they are the same.
func WithSandbox(all func() []teasel.Detector, s *isolation.Sandbox) func() []teasel.Detector {
	if s == nil {
		return all
	}
	return func() (out []teasel.Detector) {
		for _, d := range all() {
			out = append(out, &sandboxDetector{d, s})
		}
		return out
	}
}

// sandboxDetector is a detector whose findings say what the sandbox has refused.
type sandboxDetector struct {
	teasel.Detector
	sandbox *isolation.Sandbox
}

// Detect implements [teasel.Detector]. What was refused is looked for whenever a finding is described: with another input that shows it,
// nothing may have been.
func (d *sandboxDetector) Detect(o *teasel.Observation) []teasel.Finding {
	fs := d.Detector.Detect(o)
	for i := range fs {
		describe := fs[i].Describe
		fs[i].Describe = func(f *teasel.Finding) {
			if describe != nil {
				describe(f)
			}
			d.explain(f)
		}
	}
	return fs
}

// explain adds to the message of a finding what the sandbox has refused.
func (d *sandboxDetector) explain(f *teasel.Finding) {
	if d.refusal(f.Message) != "" {
		f.Message = sentence(f.Message) + " The sandbox may have caused this; see --sandbox-allow."
		return
	}
	for line := range strings.Lines(f.Detail) {
		if exchanged.MatchString(line) {
			continue
		}
		if what := d.refusal(line); what != "" {
			f.Message = fmt.Sprintf("%s The sandbox may have caused this; see --sandbox-allow. The program says %q.", sentence(f.Message), what)
			return
		}
	}
}

// refusals are what programs say of what a sandbox does not let them do, whatever it was.
var refusals = regexp.MustCompile(`(?i)read-only file ?system|\bEROFS\b|network is unreachable|\bENETUNREACH\b|name resolution|\bEAI_AGAIN\b|\bEPERM\b|operation not permitted|` +
	`connection refused|\bECONNREFUSED\b`)

// absences are what they say of a file that is not there, which may be the sandbox's doing.
var absences = regexp.MustCompile(`(?i)no such file or directory|\bENOENT\b`)

// paths matches absolute paths, which may be in quotes.
var paths = regexp.MustCompile(`'/[^']+'|"/[^"]+"|/[^\s'"` + "`" + `:;,()\[\]<>]+`)

// exchanged matches a line of an exchange of messages, which is none that the program has written about itself.
var exchanged = regexp.MustCompile(`^(client [0-9]+ )?[<>] `)

// refusal returns the part of a line with which a program has said that it was refused something; "": there is none.
func (d *sandboxDetector) refusal(line string) string {
	at := refusals.FindStringIndex(line)
	if at == nil {
		if at = absences.FindStringIndex(line); at == nil || !slices.ContainsFunc(paths.FindAllString(line, -1), d.hides) {
			return ""
		}
	}
	const most = 160
	if len(line) > most { // the words and what stands before them
		begin := max(0, at[1]-most)
		line = line[begin:min(len(line), begin+most)]
	}
	return strings.TrimSpace(strings.ToValidUTF8(line, "?"))
}

func (d *sandboxDetector) hides(path string) bool { return d.sandbox.Hides(strings.Trim(path, `'"`)) }

// sentence returns a message with the full stop that some have not.
func sentence(message string) string {
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
