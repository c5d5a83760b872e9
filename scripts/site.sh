#!/usr/bin/env bash
# Builds the documentation as a site, into site/: the pages of docs/, and the
# README as the first one. A link to a page or a heading that is not there is an
# error.
#
#   scripts/site.sh           with mkdocs as tools/site/requirements.txt pins it
set -euo pipefail
cd "$(dirname "$0")/.."

readonly requirements=tools/site/requirements.txt
venv=${XDG_CACHE_HOME:-$HOME/.cache}/teasel/site-$(sha256sum "$requirements" | cut -c1-16)
if [[ ! -x $venv/bin/mkdocs ]]; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" </dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs "$work/docs"
# In the README, what is in docs/ has that in front. What is beside docs/ is not in the site: links to it go to the repository.
readonly code=https://github.com/teaselfuzz/teasel/blob/main
sed -E 's|\(docs/|(|g; s|src="docs/|src="|g; s#\]\(((ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY)\.md|LICENSE|(bench|examples|action)[^)]*)\)#]('"$code"'/\1)#g' README.md >"$work/docs/index.md"
sed -i "s|](\.\./|]($code/|g" "$work"/docs/*.md
cp mkdocs.yml "$work/"
# With --quiet it does not count its warnings.
"$venv/bin/mkdocs" build --strict --config-file "$work/mkdocs.yml" --site-dir "${1:-$PWD/site}" 2>"$work/log" || {
	cat "$work/log" >&2
	exit 1
}
