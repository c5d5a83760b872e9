package campaign

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
)

// Version is the version of teasel, for --version, reports and campaign.json.
const Version = "0.1.0"

// ReadOptions reads the options that a campaign was begun with.
func ReadOptions(dir *corpus.Dir, into any) error {
	if err := json.Unmarshal(dir.Meta().Options, into); err != nil {
		return exit.Usage("", "%s: reading the campaign's options: %w", dir.Path(), err)
	}
	return nil
}

// ReadTarget reads the description of the target in a finding's file.
func ReadTarget(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return exit.Usage("", "reading the finding's target: %w", err)
	}
	return nil
}

// RawJSON encodes v on one line.
func RawJSON(v any) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, exit.Failure(fmt.Errorf("encoding: %w", err))
	}
	return json.RawMessage(strings.TrimSpace(b.String())), nil
}
