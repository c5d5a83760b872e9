#!/usr/bin/env bash
# What a change must pass, from a fresh clone: the set-up and every test but
# the long campaigns, which scripts/nightly.sh runs too.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup-test.sh

# A server that is not installed is a failure here, not a skipped test.
export TEASEL_REQUIRE_SERVERS=1

# These compile and start programs all the time, which the race detector doubles: they have their turn under it every night.
# Those that take longest begin. The limit is for what hangs: no test is judged by how fast the machine is.
readonly programs=(./cmd/teasel ./cmd/teasel/internal/program ./mcp ./native ./netproto ./gofunc/fuzztest ./gofunc/process ./internal/tui ./internal/web) limit=45m

others() { go list ./... | grep -vxFf <(go list "${programs[@]}"); }

printf '\n== go test -short, of packages that start programs\n'
go test -short -timeout "$limit" "${programs[@]}"
printf '\n== go test -race -short, of all others\n'
# A program that the race detector is built into sleeps for a second at its end, and the tests start thousands of them.
GORACE=atexit_sleep_ms=0 go test -race -short -timeout "$limit" $(others)
