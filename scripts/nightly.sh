#!/usr/bin/env bash
# What takes too long for every change: all tests with their long campaigns,
# all of them under the race detector, and machines that are killed.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup-test.sh

export TEASEL_REQUIRE_SERVERS=1 GORACE=atexit_sleep_ms=0
readonly limit=90m

printf '\n== go test ./...\n'
go test -timeout "$limit" ./...
printf '\n== go test -race -short ./...\n'
go test -race -short -timeout "$limit" ./...
printf '\n== scripts/fleet-kills.sh\n'
scripts/fleet-kills.sh
