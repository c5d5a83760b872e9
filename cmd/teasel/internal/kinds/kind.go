// Package kinds has the kinds of target that there are, for verbs that take any campaign or finding.
package kinds

import (
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/mcpserver"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/netserver"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/program"
)

// Of returns the kind with a name. what, a finding or a campaign, is what an error says to be of that kind.
func Of(name, what string) (campaign.Kind, error) {
	for _, k := range [...]campaign.Kind{mcpserver.Kind(), netserver.Kind(), program.Kind(), gotest.Kind()} {
		if k.Name == name {
			return k, nil
		}
	}
	return campaign.Kind{}, exit.Usage("was it written by a newer teasel?", "%s of kind %q: this teasel knows %s", what, name, strings.Join(flags.Kinds(), ", "))
}
