package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// fuzz runs an ordinary campaign of one worker and prints how many executions it made.
func fuzz(ctx context.Context, s settings) error {
	files, err := filepath.Glob(filepath.Join(s.seeds, "*"))
	if err != nil {
		return err
	}
	c := teasel.Campaign[[]byte]{
		Target: native.Target{Command: []string{s.fuzz}, Mode: native.ModeAFL}, Mutator: &mutate.Bytes{}, Codec: native.Codec{}, Stages: native.Stages(),
		NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(native.Detect)} },
		Calibrate:    3, Workers: 1, Seed: 1, Duration: time.Duration(s.seconds) * time.Second,
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		c.Seeds = append(c.Seeds, b)
	}
	sum, err := c.Run(ctx)
	if err == nil {
		fmt.Println(sum.Executions)
	}
	return err
}
