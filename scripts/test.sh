#!/usr/bin/env bash
# Everything the project tests, from a fresh clone: the set-up, all tests, and
# the tests again under the race detector, there without the long campaigns.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup-test.sh

# A server that is not installed is a failure here, not a skipped test.
export TEASEL_REQUIRE_SERVERS=1

# The packages that take longest begin. The limit is for what hangs: no test is judged by how fast the machine is.
readonly packages=(./mcp ./mcp/run ./cmd/teasel ./netproto ./native ./...) limit=45m

printf '\n== go test ./...\n'
go test -timeout "$limit" "${packages[@]}"
printf '\n== go test -race -short ./... (the long campaigns ran above)\n'
# A program that the race detector is built into sleeps for a second at its end, and the tests start thousands of them.
export GORACE=atexit_sleep_ms=0
go test -race -short -timeout "$limit" "${packages[@]}"
