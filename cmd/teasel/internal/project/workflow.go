package project

import "strings"

// workflowText returns a workflow of GitHub that runs what was found.
func workflowText(found []recognised) string {
	var b strings.Builder
	b.WriteString(`# Fuzzes this project on each pull request and once a week; findings are shown under Security, Code scanning.
name: teasel
on:
  pull_request:
  schedule:
    - cron: "17 3 * * 1"
permissions:
  contents: read
  security-events: write
jobs:
  teasel:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: {go-version: stable}
      - run: go install github.com/teaselfuzz/teasel/cmd/teasel@latest
`)
	chosen := targets(found)
	for _, f := range chosen {
		for _, step := range append(append([]string{}, f.install...), f.build...) {
			b.WriteString("      - run: " + yamlText(step) + "\n")
		}
	}
	for i, f := range chosen {
		out := "teasel-" + f.kind
		if i > 0 {
			b.WriteString("      - if: always()\n        run: ")
		} else {
			b.WriteString("      - run: ")
		}
		b.WriteString("teasel " + f.kind + " --profile ci --format sarif --out " + out + " > " + out + ".sarif\n")
		b.WriteString("      - uses: github/codeql-action/upload-sarif@v3\n        if: always()\n        with: {sarif_file: " + out + ".sarif, category: " + out + "}\n")
		b.WriteString("      - uses: actions/upload-artifact@v4\n        if: always()\n        with: {name: " + out + ", path: " + out + "}\n")
	}
	return b.String()
}

// yamlText quotes a text for YAML.
func yamlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
