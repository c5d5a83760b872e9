package proc

import (
	"context"
	"fmt"
	"time"
)

// A start that fails is tried again startTries times in all, after pauses of which each is twice as long as the one before: some six
// seconds together, in which a port or a lock of the process before may become free.
const (
	startTries = 7
	startPause = 100 * time.Millisecond
)

// Restart calls start until it succeeds, and waits between two calls. It ends with the error of one that retry says is final, with that of
// the last one, or when ctx ends. It is for programs that have been up before: one that has never started is not worth the time.
func Restart(ctx context.Context, start func() error, retry func(error) bool) error {
	pause := startPause
	for try := 1; ; try++ {
		err := start()
		switch {
		case err == nil || ctx.Err() != nil || !retry(err):
			return err
		case try == startTries:
			return fmt.Errorf("%d attempts in a row have failed, the last with: %w", startTries, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}
