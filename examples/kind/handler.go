// Command kind has a kind of target of its own: handlers of net/http. An input is a list of requests that a fresh handler serves.
// docs/new-kind.md walks through it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// Request is one element of an input.
type Request struct{ Method, Path string }

// Handler is the target: New makes a handler in its first state. It is its own executor, since it has nothing that has to be ended.
type Handler struct{ New func() http.Handler }

func (h Handler) Open(context.Context, teasel.Role) (teasel.Executor[[]Request], error) {
	return h, nil
}
func (h Handler) Close() error { return nil }

// Exec serves the requests. A feature is a request's method and status, and the status before it.
func (h Handler) Exec(_ context.Context, in []Request, o *teasel.Observation) error {
	defer func() {
		if r := recover(); r != nil {
			o.Exit, o.Detail = teasel.ExitCrash, fmt.Sprint("panic: ", r)
		}
	}()
	handler, before := h.New(), 0
	for _, r := range in {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(r.Method, "/"+r.Path, nil))
		hash := fnv.New64a()
		fmt.Fprint(hash, r.Method, before, w.Code)
		o.Features = append(o.Features, teasel.FeatureOf(hash.Sum64()))
		before = w.Code
	}
	o.Exit = teasel.ExitOK
	return nil
}

// Mutator puts requests together from words.
type Mutator struct{ Methods, Paths []string }

func (m Mutator) Generate(r *teasel.Rand) []Request { return []Request{m.request(r)} }

func (m Mutator) Mutate(r *teasel.Rand, _, src []Request) []Request {
	in := slices.Clone(src) // src is lent
	switch at := r.IntN(len(in) + 1); {
	case at == len(in) || r.IntN(3) == 0:
		return slices.Insert(in, at, m.request(r))
	case r.IntN(2) == 0:
		in[at] = m.request(r)
		return in
	default:
		return slices.Delete(in, at, at+1)
	}
}

func (m Mutator) Complexity(in []Request) (size float64) {
	for _, r := range in {
		size += float64(10 + len(r.Path))
	}
	return size
}

func (m Mutator) request(r *teasel.Rand) Request {
	pick := func(words []string) string { return words[r.IntN(len(words))] }
	return Request{pick(m.Methods), pick(m.Paths)}
}

// Codec stores inputs as JSON.
type Codec struct{}

func (Codec) Encode(in []Request) ([]byte, error) { return json.Marshal(in) }
func (Codec) Decode(data []byte) (in []Request, err error) {
	err = json.Unmarshal(data, &in)
	return in, err
}

var (
	_ teasel.Target[[]Request]   = Handler{}
	_ teasel.Executor[[]Request] = Handler{}
	_ teasel.Mutator[[]Request]  = Mutator{}
	_ teasel.Codec[[]Request]    = Codec{}
)
