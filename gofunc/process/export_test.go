package process

import (
	"context"
	"errors"

	"github.com/teaselfuzz/teasel"
)

// Work is one worker of the hub's campaign.
func (t *Test) Work(ctx context.Context, h *teasel.Hub, number int) error {
	return t.work(ctx, h, number, nil)
}

// Judge runs one encoded input in a process of its own and returns what was found; a finding without a rule says that it
// ended well.
func Judge(ctx context.Context, t *Test, data []byte) (f teasel.Finding, err error) {
	m, err := newReproducer(ctx, t)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	return m.run(ctx, input{data: data})
}
