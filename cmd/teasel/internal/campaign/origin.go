package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Origin is the directory in which a campaign was begun. Paths in what its files say of the target and of the flags are relative to that.
type Origin struct {
	dir  string
	here string // the working directory; "": it is not known, or the same
}

// OriginOf returns the origin of a campaign whose files name the directory; "": they do not.
func OriginOf(dir string) Origin {
	here, err := os.Getwd()
	if err != nil || dir == "" || here == dir {
		return Origin{}
	}
	return Origin{dir, here}
}

// Needed reports whether files that these objects name, the target and the flags, are there and not here: a project that was copied runs
// where it is.
func (o Origin) Needed(objects ...json.RawMessage) (file string, needed bool) {
	if o.here == "" {
		return "", false
	}
	for _, object := range objects {
		var v any
		if json.Unmarshal(object, &v) != nil {
			continue // who reads it says so
		}
		if file := o.only(v); file != "" {
			return file, true
		}
	}
	return "", false
}

// only returns a relative path in a value that leads to a file there and to none here; "": there is none.
func (o Origin) only(v any) string {
	switch v := v.(type) {
	case string:
		words := append([]string{v}, strings.Fields(v)...) // a command line for a shell
		for _, w := range words {
			_, value, _ := strings.Cut(w, "=") // --config=FILE, NAME=FILE
			for _, name := range [...]string{w, value} {
				if name != "" && !filepath.IsAbs(name) && exists(filepath.Join(o.dir, name)) && !exists(filepath.Join(o.here, name)) {
					return name
				}
			}
		}
	case []any:
		for _, e := range v {
			if file := o.only(e); file != "" {
				return file
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "out" { // the campaign's own directory, which the user names
				continue
			}
			if file := o.only(v[key]); file != "" {
				return file
			}
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Enter makes the origin the working directory, and says on w that it is, and for which file. The caller has seen to it that relative paths
// of this run's own mean what they meant.
func (o Origin) Enter(w io.Writer, file string) error {
	if err := os.Chdir(o.dir); err != nil {
		return exit.Usage("", "going to where the campaign was begun: %w", err)
	}
	if !isolation.Entered() { // then the process that has started us has said it
		fmt.Fprintf(w, "teasel: the target runs in %s, where the campaign was begun: %s is there, and not here\n", plain.Line(o.dir), plain.Line(file))
	}
	return nil
}

// Leave undoes Enter.
func (o Origin) Leave() error { return exit.Failure(os.Chdir(o.here)) }

// Explain adds to an error with one of these exit statuses where the campaign was begun: what is missing may be there.
func (o Origin) Explain(err error, statuses ...int) error {
	var e *exit.Error
	if o.here == "" || !errors.As(err, &e) || e.Err == nil || !slices.Contains(statuses, e.Status) {
		return err
	}
	explained := *e
	explained.Hint = strings.TrimPrefix(e.Hint+"\nhint: the campaign was begun in "+o.dir+", and paths of its target and flags are relative to that", "\nhint: ")
	return &explained
}
