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

// blackBox runs a program without instrumentation. Its features are the exit status and what it writes.
type blackBox struct {
	target     Target
	command    forkserver.Command
	program    *forkserver.Plain
	exits      []int
	known      map[teasel.Feature]bool
	first      map[teasel.Feature]bool
	lines      map[uint64]bool // of one run
	classifier classifier
}

const (
	maxKnown  = 1 << 14 // features, so that a program which writes something else each time does not fill the memory
	maxFirst  = 64      // inputs, the first ones, that are a feature each: or seeds would be evicted by shorter inputs with the same outcome
	maxLines  = 256     // of a run that count
	lineShape = 96      // bytes of a line that count
)

func (t Target) openBlackBox(ctx context.Context, p image) (teasel.Executor[[]byte], error) {
	e := &blackBox{target: t, exits: t.exits(), known: map[teasel.Feature]bool{}, first: map[teasel.Feature]bool{}, lines: map[uint64]bool{}, classifier: classifier{limit: t.memory()}}
	var err error
	if e.command, err = t.prepare(p); err == nil {
		e.program, err = forkserver.NewPlain(e.command)
	}
	if err == nil {
		err = e.try(ctx)
	}
	if err != nil {
		return nil, t.giveUp(ctx, err, e.Close())
	}
	return e, nil
}

// The exit statuses of a shell or the dynamic linker that cannot run the program.
const (
	notExecutable = 126
	notFound      = 127
)

// try runs the program with an empty input, to see whether it can be started.
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

// Close ends the program and removes its files.
func (e *blackBox) Close() (err error) {
	defer e.target.release()
	if e.program != nil {
		err = e.program.Close()
		e.program = nil
	}
	if e.command.Folder != "" {
		err = errors.Join(err, os.RemoveAll(e.command.Folder))
	}
	return err
}

// BatchSize is one: the program is started for each input. That there are batches at all tells fuzzing from confirming.
func (e *blackBox) BatchSize() int { return 1 }

// ExecBatch runs the first input within its limit.
func (e *blackBox) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	return 1, e.exec(ctx, ins[0], &obs[0], e.target.patience(obs[0].Ask))
}

// Exec runs one input, for more than its limit, unless less will do: what it reports as a hang is one.
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
		e.classifier.classify(o, r, e.program.Stderr(), e.target.limit())
		return nil
	}
	o.Exit, o.Expensive = teasel.ExitOK, true
	if status != 0 {
		o.Exit = teasel.ExitRejected
	}
	e.features(o, in, status)
	return nil
}

// The kinds of features.
const (
	ofStatus = iota + 1
	ofStdout
	ofStderr
	ofInput
	ofSize
)

// features describes a run: its status, the shapes of the lines that it wrote, and how much that was.
func (e *blackBox) features(o *teasel.Observation, in []byte, status int) {
	e.add(o, feature(ofStatus, uint64(status)))
	h := fnv.New64a()
	h.Write(in)
	if f := feature(ofInput, h.Sum64()); e.first[f] || len(e.first) < maxFirst {
		e.first[f] = true
		o.Features = append(o.Features, f)
	}
	echoes := echoes(in)
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
			if h := shape(line, echoes); !e.lines[h] {
				e.lines[h] = true
				e.add(o, feature(kind, h))
			}
		}
	}
}

func feature(kind int, value uint64) teasel.Feature {
	const own = 1<<63 - 1 // what is above is for states
	return teasel.Feature((uint64(kind)+1)*0x9e3779b97f4a7c15^value*0xbf58476d1ce4e5b9)&own | 1
}

// add adds a feature, but no new one when there are maxKnown.
func (e *blackBox) add(o *teasel.Observation, f teasel.Feature) {
	if !e.known[f] {
		if len(e.known) == maxKnown {
			return
		}
		e.known[f] = true
	}
	o.Features = append(o.Features, f)
}

// echoes returns the words of an input: where they come back in the output, they tell nothing of the program.
func echoes(in []byte) map[string]bool {
	words := map[string]bool{}
	for w := range bytes.FieldsFuncSeq(in[:min(len(in), 4096)], func(r rune) bool { return !wordRune(r) }) {
		words[string(w)] = true
	}
	return words
}

func wordRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// shape returns a hash of a line without what varies: numbers, words of the input, and bytes that are no text.
func shape(line []byte, echoes map[string]bool) uint64 {
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
		case echoes[string(word)]:
			h.Write([]byte{2})
		default:
			h.Write(word)
		}
		i += n
	}
	return h.Sum64()
}
