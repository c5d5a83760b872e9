package project

import (
	"slices"
	"strings"
)

// workflowText returns a workflow of GitHub that runs what was found, by the action.
func workflowText(found []recognised) string {
	var b strings.Builder
	b.WriteString(`# Fuzzes this project: a minute for each pull request, which only findings that the main branch does not have fail, and half an hour each
# night, which goes on from the night before. Findings are shown under Security, Code scanning.
# See https://github.com/teaselfuzz/teasel/blob/main/docs/ci.md
name: teasel
on:
  pull_request:
  schedule:
    - cron: "17 3 * * *"
  workflow_dispatch:
permissions:
  contents: read
  security-events: write
jobs:
`)
	for _, f := range targets(found) { // each with a directory of its own
		b.WriteString("  " + f.kind + `:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
`)
		steps := slices.Concat(f.install, f.build)
		if strings.Contains(strings.Join(steps, "\n"), "teasel ") { // the action runs the one that builds
			b.WriteString(`      - uses: actions/setup-go@v6
        with: {go-version: stable}
      - run: go install github.com/teaselfuzz/teasel/cmd/teasel@latest
`)
		}
		for _, step := range steps {
			b.WriteString("      - run: " + yamlText(step) + "\n")
		}
		b.WriteString("      - uses: teaselfuzz/teasel@main\n        with:\n          kind: " + f.kind +
			"\n          duration: ${{ github.event_name == 'pull_request' && '1m' || '30m' }}\n          sarif: \"true\"\n")
	}
	return b.String()
}

// yamlText quotes a text for YAML.
func yamlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
