package mcp_test

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func ExampleCampaign() {
	target := &run.Target{Command: server.Command{Args: []string{"server"}}}
	sess := &session.Session{Version: "2025-11-25"}
	m := gen.NewMutator(gen.MutatorConfig{Session: sess})
	campaign := mcp.Campaign(target, m, judge.DetectorConfig{})
	fmt.Println(len(campaign.Stages), campaign.Background)
	// Output: 5 true
}
