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
readonly programs=(./cmd/teasel ./cmd/teasel/internal/program ./mcp ./native ./netproto ./gofunc/fuzztest ./gofunc/process ./mcp/run ./internal/tui ./internal/web) limit=45m

# The tests of these start none of the goroutines of their packages, for which half of the tree would be compiled and linked a second time.
readonly still=(./bench/... ./cmd/teasel/internal/{campaign,cov,gotest,libfuzzer,mcpserver})

# A package is tested under the race detector where it or its tests start goroutines. All others compute, which the detector makes three
# to seven times as long and learns nothing from; every night they have their turn too.
concurrent() {
	git grep -lE --untracked '^\s*go (func\b|[[:alnum:]_.]+\()|\.Go\(' -- '*.go' ':!*testdata*' | xargs dirname | sort -u | sed 's#^#./#' |
		xargs go list | grep -vxFf <(go list "${programs[@]}" "${still[@]}")
}

mapfile -t race < <(concurrent)
mapfile -t plain < <(go list ./... | grep -vxFf <(go list "${programs[@]}" && printf '%s\n' "${race[@]}"))

readonly flags=(-short -vet=off -timeout "$limit")

# go vet is part of scripts/lint.sh.
printf '\n== go test -short\n'
go test "${flags[@]}" "${programs[@]}" "${plain[@]}"
printf '\n== go test -race -short, of packages that start goroutines\n'
# A program that the race detector is built into sleeps for a second at its end, and the tests start thousands of them.
GORACE=atexit_sleep_ms=0 go test -race "${flags[@]}" "${race[@]}"
