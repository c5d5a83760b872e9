package libfuzzer

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// cleanseRounds is how often all bytes are tried at most, as in libFuzzer: a byte that mattered may not matter once others are
// replaced.
const cleanseRounds = 5

// cleanseCrash replaces the bytes of an input that do not matter for its crash.
func (h *harness) cleanseCrash(ctx context.Context) (err error) {
	if len(h.inputs) != 1 || h.exact == "" {
		return usageError("for example: -cleanse_crash=1 -exact_artifact_path=clean crash-0123", "-cleanse_crash=1 takes one file and -exact_artifact_path")
	}
	data, err := os.ReadFile(h.inputs[0])
	if err != nil {
		return usageError("", "%w", err)
	}
	ex, err := h.target.Open(ctx, teasel.Role{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	finding := func(in []byte) (string, error) {
		o := teasel.Observation{Runs: 1}
		if err := ex.Exec(ctx, in, &o); err != nil {
			return "", err
		}
		for _, f := range native.Detect(&o) {
			return f.ID(), nil
		}
		return "", nil
	}
	want, err := finding(data)
	if err != nil {
		return err
	}
	if want == "" {
		return usageError("an input that crashes only sometimes, or with other flags, cannot be cleansed", "CLEANSE: the input %s did not crash", h.inputs[0])
	}
	for round, changed := 0, true; changed && round < cleanseRounds; round++ {
		changed = false
		for i, was := range data {
			for _, b := range [...]byte{' ', 0xff} {
				if was == ' ' || was == 0xff {
					break
				}
				tried := slices.Clone(data)
				tried[i] = b
				got, err := finding(tried)
				if err != nil {
					return err
				}
				if got == want {
					data, changed = tried, true
					h.printf("CLEANSE: Replaced byte %d with 0x%02x\n", i, b)
					break
				}
			}
		}
	}
	if err := os.WriteFile(h.exact, data, 0o644); err != nil {
		return usageError("", "writing the cleansed input: %w", err)
	}
	return nil
}
