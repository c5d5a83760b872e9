package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp/check"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// isURL reports whether --compare names a server that runs already, and not a command.
func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// checkCompare refuses a --compare that makes no sense, before anything is started.
func (o *options) checkCompare() error {
	switch {
	case o.Compare == "":
		return nil
	case isURL(o.Compare):
		other := o.httpOptions
		other.URL = o.Compare
		return other.check(nil, nil)
	case o.URL == "":
		return exit.Usage("for example: --compare http://127.0.0.1:8080/mcp", "--compare %q: both are commands over standard input and output: expected the URL of the same server", o.Compare)
	}
	return nil
}

// compare asks the same server, over another transport, what can be compared, and adds seeds that ask it over the campaign's.
func (p *plan) compare(ctx context.Context, o *options, target *mcprun.Target, dictionary *mutate.Dictionary) error {
	if o.Compare == "" || o.DryRun {
		return nil
	}
	catalog, err := session.NewCatalog(ctx, p.session, &p.choice, dictionary)
	if err != nil {
		return err
	}
	other, over := target.Command, "standard input and output"
	if other.Process, other.Last = nil, nil; isURL(o.Compare) {
		other.Args, other.URL, over = nil, o.Compare, "HTTP"
	} else {
		other.Args, other.URL = strings.Fields(o.Compare), ""
	}
	lines := check.Comparable(catalog)
	answers, err := other.Ask(ctx, slices.Concat(lines, lines))
	if err != nil {
		return fmt.Errorf("asking the server of --compare: %w", err)
	}
	for i, line := range lines {
		if in, ok := check.AcrossTransports(line, answers[i], answers[len(lines)+i], over); ok {
			p.Seeds = append(p.Seeds, campaign.Seed[script.Script]{Folder: corpus.EdgeCases, Name: fmt.Sprintf("transports %d", i), Input: in})
		}
	}
	return nil
}
