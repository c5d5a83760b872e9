#!/usr/bin/env bash
# What every commit must pass beside the tests, in every module of the
# repository. Runs all checks and fails at the end if any did.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=()

# check NAME COMMAND...: runs a check under a headline. A function that is
# checked must return its own failures: bash suspends -e on the left of ||.
check() {
	local name=$1
	shift
	printf '== %s\n' "$name"
	"$@" || failed+=("$name")
}

# go_files: every Go file that is, or is about to be, part of the repository.
go_files() {
	git ls-files --cached --others --exclude-standard -z '*.go' |
		while IFS= read -r -d '' f; do
			if [[ -f $f ]]; then printf '%s\0' "$f"; fi
		done
}

# modules: the folder of every module here.
modules() {
	git ls-files --cached --others --exclude-standard '*go.mod' | xargs -n1 dirname
}

formatted() {
	local bad
	bad=$(go_files | xargs -0 -r gofmt -l) || return
	if [[ -n $bad ]]; then
		printf 'not formatted:\n%s\n' "$bad" >&2
		return 1
	fi
}

# Programs under testdata are part of the tests, but no wildcard reaches them
# unless it names testdata itself.
testdata_patterns() {
	local dir
	git ls-files --cached --others --exclude-standard '*.go' |
		sed -nE 's#^(.*/)?testdata/.*#\1testdata#p' | sort -u |
		while IFS= read -r dir; do
			if [[ -n $(go list "./$dir/..." 2>/dev/null) ]]; then printf './%s/...\n' "$dir"; fi
		done
}

staticcheck() {
	local tool
	tool=$(go tool -modfile=tools/go.mod -n staticcheck) || return
	"$tool" ./... "${testdata[@]}" && (cd mcp/testdata/servers/go && "$tool" ./...)
}

# site: the documentation as a site, if mkdocs is here or can be installed.
site() {
	local out log
	out=$(mktemp -d) && log=$(mktemp) || return
	if scripts/site.sh "$out" >"$log" 2>&1; then
		rm -rf "$out" "$log"
		return
	fi
	cat "$log" >&2
	if [[ ! -s $out/index.html ]] && grep -qE 'No matching distribution|ensurepip|Could not (find|install)|Failed to establish' "$log"; then
		echo "skipped: mkdocs cannot be installed here"
		rm -rf "$out" "$log"
		return
	fi
	rm -rf "$out" "$log"
	return 1
}

mapfile -t testdata < <(testdata_patterns)

check "gofmt -l" formatted
check "go vet" go vet ./... "${testdata[@]}"
check "go vet (test servers)" go -C mcp/testdata/servers/go vet ./...
check "staticcheck" staticcheck
check "site of the documentation" site
while IFS= read -r dir; do
	check "go mod tidy -diff ($dir)" go -C "$dir" mod tidy -diff
done < <(modules)

if ((${#failed[@]})); then
	printf 'lint: failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
