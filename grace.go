package teasel

import (
	"context"
	"time"
)

// graceTime is how long executions in flight go on when a worker is stopped, as a part of endTime: what goes wrong in them is seen that way. It
// is long for a batch of quick executions, and short for who waits for the end.
const graceTime = endTime / 8

type graceKey struct{}

// withGrace returns a context that ends with ctx, but for executions in flight, which end a while later. The caller must call cancel.
func withGrace(ctx context.Context) (graced context.Context, cancel func()) {
	inFlight, end := context.WithCancelCause(context.WithoutCancel(ctx))
	timer := time.AfterFunc(graceTime, func() { end(context.Cause(ctx)) })
	timer.Stop()
	stop := context.AfterFunc(ctx, func() { timer.Reset(graceTime) })
	return context.WithValue(ctx, graceKey{}, inFlight), func() {
		stop()
		timer.Stop()
		end(nil)
	}
}

// inFlight returns the context of what is executed.
func inFlight(ctx context.Context) context.Context {
	if c, ok := ctx.Value(graceKey{}).(context.Context); ok {
		return c
	}
	return ctx
}
