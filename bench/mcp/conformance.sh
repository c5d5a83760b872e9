#!/usr/bin/env bash
# Runs the official conformance suite and teasel on the servers that come with
# the suite, and prints what each says of which: docs/benchmarks.md has them
# side by side. Needs npm, jq and a checkout of
# github.com/modelcontextprotocol/conformance; the suite needs Node 22, which
# is installed into a temporary folder from npm.
#
#     bench/mcp/conformance.sh CHECKOUT [SECONDS]
set -euo pipefail
checkout=$(cd "${1:?a checkout of github.com/modelcontextprotocol/conformance}" && pwd) seconds=${2:-60}
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
go build -o "$work/teasel" ./cmd/teasel
npm install --prefix "$work" --no-audit --no-fund --loglevel=error node@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12 >/dev/null
cp -r "$checkout/examples/servers/typescript" "$work/servers"
(cd "$work/servers" && npm ci --no-audit --no-fund --loglevel=error >/dev/null)
PATH=$work/node_modules/.bin:$PATH

# suite FILE VERSION: the checks that the suite reports as failed, but those of tools and extensions that the server does not have.
suite() {
	(cd "$work/servers" && PORT=3900 exec node --import tsx "$1" >/dev/null 2>&1) &
	server=$!
	for _ in $(seq 100); do
		curl -s -o /dev/null http://127.0.0.1:3900/mcp && break
		sleep 0.1
	done
	conformance server --url http://localhost:3900/mcp --suite all --spec-version "$2" -o "$work/results" >/dev/null 2>&1 || true
	kill "$server"
	wait "$server" 2>/dev/null || true
	server=
	find "$work/results" -name checks.json -exec jq -r '.[] | select(.status == "FAILURE") | "\(.id)\t\((.errorMessage // "")[:120])"' {} + |
		grep -vE 'Not testable|not found|not observed|Unknown tool|Prerequisite' | sort -u
	rm -rf "$work/results"
}

for row in everything-server.ts:2025-11-25 everything-server.ts:2026-07-28 no-dns-rebinding-protection.ts:2025-11-25 sep-2106-stripped-schema.ts:2025-11-25 \
	sep-2164-empty-contents.ts:2026-07-28 sep-2322-mrtr-broken-server.ts:2026-07-28 sep-2549-no-caching-hints.ts:2026-07-28; do
	file=${row%:*} version=${row#*:}
	printf '\n==== %s, %s\n-- the suite:\n' "$file" "$version"
	suite "$file" "$version" || true
	printf -- '-- teasel, %s s:\n' "$seconds"
	(cd "$work/servers" && "$work/teasel" mcp --no-ui --fresh --seed 1 --duration "${seconds}s" --format json --out "$work/out" --protocol-version "$version" \
		--url 'http://127.0.0.1:{port}/mcp' --env 'PORT={port}' -- node --import tsx "$file" 2>/dev/null || true) |
		jq -r '(.findings[], (.unconfirmed[] | .rule += " (unconfirmed)")) | "\(.severity)\t\(.rule)\t\(.subject)\t\(.message[:120])"' | sort -u
	rm -rf "$work/out"
done
