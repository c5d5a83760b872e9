package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// fuzz runs an ordinary campaign of one worker and prints how many executions it made.
func fuzz(ctx context.Context, s settings) error {
	seeds, _, err := corpus.Load(s.seeds, nil)
	if err != nil {
		return err
	}
	cores, _ := native.NewCores(1) // as teasel native does
	runtime.GOMAXPROCS(native.Procs(1))
	c := native.Campaign(native.Target{Command: []string{s.fuzz}, Mode: native.ModeAFL, Cores: cores}, &mutate.Bytes{})
	c.Workers, c.Seed, c.Duration = 1, 1, time.Duration(s.seconds)*time.Second
	for _, s := range seeds {
		c.Seeds = append(c.Seeds, s.Data)
	}
	sum, err := c.Run(ctx)
	if err == nil {
		fmt.Println(sum.Executions)
	}
	return err
}
