package teasel

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

type reply struct {
	Reply Reply
	Err   string
}

type wire struct {
	enc *gob.Encoder
	dec *gob.Decoder
}

// Dial returns an [Exchange] over a stream whose other end is in [Serve].
func Dial(rw io.ReadWriter) Exchange { return &wire{gob.NewEncoder(rw), gob.NewDecoder(rw)} }

func (w *wire) Sync(_ context.Context, n News) (Reply, error) {
	if err := w.enc.Encode(n); err != nil {
		return Reply{}, fmt.Errorf("publishing: %w", err)
	}
	var r reply
	if err := w.dec.Decode(&r); err != nil {
		return Reply{}, fmt.Errorf("pulling: %w", err)
	}
	switch r.Err {
	case "":
		return r.Reply, nil
	case ErrStop.Error():
		return r.Reply, ErrStop
	}
	return Reply{}, errors.New(r.Err)
}

// Serve passes what comes over the stream to x until the other side goes away.
func Serve(ctx context.Context, rw io.ReadWriter, x Exchange) error {
	enc, dec := gob.NewEncoder(rw), gob.NewDecoder(rw)
	for {
		var n News
		if err := dec.Decode(&n); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("serving a worker: %w", err)
		}
		got, err := x.Sync(ctx, n)
		r := reply{Reply: got}
		if err != nil {
			r.Err = err.Error()
		}
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("serving a worker: %w", err)
		}
	}
}
