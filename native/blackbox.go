package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/triage"
)

var (
	_ teasel.Executor[[]byte]      = (*blackBox)(nil)
	_ teasel.BatchExecutor[[]byte] = (*blackBox)(nil)
)

// blackBox runs a program without instrumentation. Its features are derived from the exit status and the output.
type blackBox struct {
	target     Target
	command    forkserver.Command
	program    *forkserver.Plain
	exits      []int
	known      map[teasel.Feature]bool
	first      map[teasel.Feature]bool
	lines      map[uint64]bool // hashes of the lines of the current run
	classifier classifier
}

const (
	maxKnown  = 1 << 14 // features, so that a program with random output does not exhaust the memory
	maxFirst  = 64      // the first inputs, each of which is a feature: otherwise shorter inputs with the same result would replace seeds
	maxLines  = 256     // lines of a run that are considered
	lineShape = 96      // bytes of a line that are considered
)

func (t Target) openBlackBox(ctx context.Context, p image) (teasel.Executor[[]byte], error) {
	e := &blackBox{target: t, exits: t.exits(), known: map[teasel.Feature]bool{}, first: map[teasel.Feature]bool{}, lines: map[uint64]bool{}, classifier: newClassifier(t)}
	var err error
	if e.command, err = e.target.prepare(p); err == nil {
		e.command.Look = e.classifier.look
		e.program, err = forkserver.NewPlain(e.command)
	}
	if err == nil {
		err = e.try(ctx)
	}
	if err != nil {
		return nil, t.openError(ctx, err, e.Close())
	}
	return e, nil
}

// The exit statuses of a shell or the dynamic linker that cannot execute the program.
const (
	notExecutable = 126
	notFound      = 127
)

// try runs the program with an empty input, to find out whether it can be started.
func (e *blackBox) try(ctx context.Context) error {
	r, err := e.program.Run(ctx, nil, e.target.limit())
	switch {
	case err != nil:
		return err
	case r.Killed == proc.Cancelled:
		return context.Cause(ctx)
	case r.Status.Exited() && (r.Status.ExitStatus() == notFound || r.Status.ExitStatus() == notExecutable):
		return fmt.Errorf("it ends with status %d at its start: %s", r.Status.ExitStatus(), strings.TrimSpace(string(e.program.Stderr())))
	}
	return nil
}

// Close removes the program's files.
func (e *blackBox) Close() (err error) {
	defer e.target.release()
	if e.program != nil {
		err = e.program.Close()
		e.program = nil
	}
	if e.command.Folder != "" {
		err = errors.Join(err, os.RemoveAll(e.command.Folder))
	}
	return errors.Join(err, e.target.home.Close())
}

// BatchSize is one, since the program is started for each input. The executor supports batches nevertheless, so that fuzzing, which
// calls ExecBatch, can be distinguished from confirming, which calls Exec.
func (e *blackBox) BatchSize() int { return 1 }

// ExecBatch runs the first input.
func (e *blackBox) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	return 1, e.exec(ctx, ins[0], &obs[0], e.target.runLimit(obs[0].Ask))
}

// Exec runs one input to confirm how it ends. Unless the run is to be quick, its time limit is higher than in a batch, so that a
// slow input is not reported as a hang.
func (e *blackBox) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	return e.exec(ctx, in, o, e.target.confirmLimit(o.Ask))
}

func (e *blackBox) exec(ctx context.Context, in []byte, o *teasel.Observation, limit time.Duration) error {
	r, err := e.program.Run(ctx, in, limit)
	if err != nil {
		return err
	}
	status := r.Status.ExitStatus()
	switch {
	case r.Killed == proc.Cancelled:
		return context.Cause(ctx)
	case r.Killed != proc.NotKilled, r.Status.Signaled(), slices.Contains(e.exits, status),
		sanitizerExit(status) && triage.Reported(e.program.Stderr()):
		if c := e.classifier.classify(o, r, e.program.Stderr(), e.target.limit()); c.wordless() && r.Killed == proc.NotKilled {
			return e.classifier.locate(ctx, e.program, in, o, c, limit)
		}
		return nil
	}
	o.Exit, o.Expensive = teasel.ExitOK, true
	if status != 0 {
		o.Exit = teasel.ExitRejected
	}
	e.features(o, in, status)
	return nil
}

// The kinds of features. For the size of an output, its kind is added to ofSize.
const (
	ofStatus = iota + 1
	ofStdout
	ofStderr
	ofInput
	ofSize
)

// features adds the features of a run: its exit status, the shapes of the lines that it has written, and the size of its output.
func (e *blackBox) features(o *teasel.Observation, in []byte, status int) {
	e.add(o, feature(ofStatus, uint64(status)))
	h := fnv.New64a()
	h.Write(in)
	if f := feature(ofInput, h.Sum64()); e.first[f] || len(e.first) < maxFirst {
		e.first[f] = true
		o.Features = append(o.Features, f)
	}
	inputWords := inputWords(in)
	for kind, text := range [...][]byte{ofStdout: e.program.Stdout(), ofStderr: e.program.Stderr()} {
		if len(text) == 0 {
			continue
		}
		e.add(o, feature(ofSize+kind, uint64(bits.Len(uint(len(text))))))
		clear(e.lines)
		for line := range bytes.Lines(text) {
			if len(e.lines) == maxLines {
				break
			}
			if h := shape(line, inputWords); !e.lines[h] {
				e.lines[h] = true
				e.add(o, feature(kind, h))
			}
		}
	}
}

func feature(kind int, value uint64) teasel.Feature {
	const kindBits = 1<<63 - 1 // the highest bit is set in features of states
	return teasel.Feature((uint64(kind)+1)*0x9e3779b97f4a7c15^value*0xbf58476d1ce4e5b9)&kindBits | 1
}

// add adds a feature to an observation, unless the feature is new and there are maxKnown already.
func (e *blackBox) add(o *teasel.Observation, f teasel.Feature) {
	if !e.known[f] {
		if len(e.known) == maxKnown {
			return
		}
		e.known[f] = true
	}
	o.Features = append(o.Features, f)
}

// inputWords returns the words of an input: in the output they are echoed input and are ignored.
func inputWords(in []byte) map[string]bool {
	words := map[string]bool{}
	for w := range bytes.FieldsFuncSeq(in[:min(len(in), 4096)], func(r rune) bool { return !wordRune(r) }) {
		words[string(w)] = true
	}
	return words
}

func wordRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// shape returns a hash of a line that does not depend on its variable parts: numbers, words of the input, and bytes that are not
// printable ASCII.
func shape(line []byte, inputWords map[string]bool) uint64 {
	line = line[:min(len(line), lineShape)]
	h := fnv.New64a()
	for i := 0; i < len(line); {
		n := 0
		for i+n < len(line) && wordRune(rune(line[i+n])) {
			n++
		}
		switch word := line[i : i+n]; {
		case n == 0:
			n = 1
			if c := line[i]; ' ' < c && c < 0x7f && !bytes.ContainsRune(line[:i], rune(c)) {
				h.Write(line[i : i+1])
			}
		case bytes.ContainsAny(word, "0123456789"):
			h.Write([]byte{1})
		case inputWords[string(word)]:
			h.Write([]byte{2})
		default:
			h.Write(word)
		}
		i += n
	}
	return h.Sum64()
}
