package campaign

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

// WithSandbox returns what makes the same detectors, whose findings say what the sandbox has refused to the program, where it has said so
// itself: a fault may be no more than that a file could not be written to.
func WithSandbox(all func() []teasel.Detector, i *flags.Isolation) func() []teasel.Detector {
	if !i.Sandbox {
		return all
	}
	return func() (out []teasel.Detector) {
		for _, d := range all() {
			out = append(out, &sandboxDetector{d, map[string]described{}})
		}
		return out
	}
}

// sandboxDetector is a detector whose findings say what the sandbox has refused.
type sandboxDetector struct {
	teasel.Detector
	described map[string]described // by the finding's id
}

// described is what is known of a finding whose detail was read.
type described struct {
	times   int
	refusal string // "": none was
}

// mostDescribed is of how many sightings of a finding the detail is written and read: it is confirmed with some of them, and of the others
// nobody reads it.
const mostDescribed = 16

// Detect implements [teasel.Detector].
func (d *sandboxDetector) Detect(o *teasel.Observation) []teasel.Finding {
	fs := d.Detector.Detect(o)
	for i := range fs {
		f := &fs[i]
		known := d.described[f.ID()]
		if known.times < mostDescribed {
			if f.Describe != nil {
				f.Detail, f.Describe = f.Describe(), nil
			}
			known = described{known.times + 1, refusal(f.Message + "\n" + f.Detail)}
			d.described[f.ID()] = known
		}
		switch what := known.refusal; {
		case what == "":
		case refusals.MatchString(f.Message):
			f.Message = sentence(f.Message) + " The sandbox may have caused this; see --sandbox-allow."
		default:
			f.Message = fmt.Sprintf("%s The sandbox may have caused this; see --sandbox-allow. The program says %q.", sentence(f.Message), what)
		}
	}
	return fs
}

// refusals are what programs say of what a sandbox does not let them do. What they say of any file that is not there is none of it.
var refusals = regexp.MustCompile(`(?i)read-only file ?system|\bEROFS\b|network is unreachable|\bENETUNREACH\b|name resolution|\bEAI_AGAIN\b|\bEPERM\b|operation not permitted|` +
	`connection refused|\bECONNREFUSED\b`)

// refusal returns the line with which a program has said that it was refused something; "": there is none.
func refusal(text string) string {
	at := refusals.FindStringIndex(text)
	if at == nil {
		return ""
	}
	const most = 160
	from := strings.LastIndexByte(text[:at[0]], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	if len(line) > most { // the words and what stands before them
		begin := max(0, at[1]-from-most)
		line = line[begin:min(len(line), begin+most)]
	}
	return strings.TrimSpace(strings.ToValidUTF8(line, "?"))
}

// sentence returns a message with the full stop that some have not.
func sentence(message string) string {
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
