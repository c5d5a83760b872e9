#!/usr/bin/env bash
# Everything the project tests, from a fresh clone: the set-up, all tests, and
# the tests again under the race detector, there without the long campaigns.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup-test.sh

# A server that is not installed is a failure here, not a skipped test.
export TEASEL_REQUIRE_SERVERS=1

printf '\n== go test ./...\n'
go test -timeout 8m ./...
printf '\n== go test -race -short ./...\n'
go test -race -short -timeout 8m ./...
