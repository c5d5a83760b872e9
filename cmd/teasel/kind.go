package main

import (
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
)

// kindOf returns the kind with a name. what, a finding or a campaign, is what an error says to be of that kind.
func kindOf(name, what string) (campaign.Kind, error) {
	for _, k := range [...]campaign.Kind{mcpKind(), netKind(), nativeKind(), gotest.Kind()} {
		if k.Name == name {
			return k, nil
		}
	}
	return campaign.Kind{}, exit.Usage("was it written by a newer teasel?", "%s of kind %q: this teasel knows %s", what, name, strings.Join(flags.Kinds, ", "))
}
