package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/teaselfuzz/teasel"
)

// shelf is what is fuzzed: things are put on a shelf and moved. Moving one that has been taken away panics.
func shelf() http.Handler {
	things := map[string]*string{}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /{name}", func(w http.ResponseWriter, r *http.Request) {
		place := "top"
		things[r.PathValue("name")] = &place
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("DELETE /{name}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := things[r.PathValue("name")]; !ok {
			http.NotFound(w, r)
			return
		}
		things[r.PathValue("name")] = nil // bug: it stays in the map
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PATCH /{name}", func(w http.ResponseWriter, r *http.Request) {
		place, ok := things[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		*place = "bottom"
	})
	return mux
}

// fuzz runs a campaign of at most runs executions and writes what it found.
func fuzz(ctx context.Context, runs uint64, w io.Writer) error {
	campaign := teasel.Campaign[[]Request]{
		Target: Handler{New: shelf},
		Mutator: Mutator{
			Methods: []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete},
			Paths:   []string{"", "vase", "book"},
		},
		Codec:     Codec{},
		Seed:      1,
		Runs:      runs,
		StopAfter: 1,
	}
	sum, err := campaign.Run(ctx)
	if err != nil {
		return err
	}
	for _, f := range sum.Findings {
		fmt.Fprintf(w, "%s: %s, reproduced %d of %d times by %s\n", f.Rule, f.Message, f.Stable, f.Tries, f.Input)
	}
	fmt.Fprintf(w, "%d executions, %d testcases kept\n", sum.Executions, sum.Corpus)
	return nil
}

func main() {
	if err := fuzz(context.Background(), 1_000_000, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
