#!/usr/bin/env bash
# Builds what a release has, into dist/: for teasel and teasel-hub, and for each
# architecture, a static program in an archive and its bill of materials, and
# the checksums of all. The same
# commit gives the same bytes wherever it is built.
#
#   scripts/release.sh v0.2.0          ARCHS=amd64 builds for one architecture
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?usage: scripts/release.sh VERSION, for example v0.2.0}
dist=${DIST:-dist}
if [[ ! $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
	echo "release: $version: expected a version such as v0.2.0" >&2
	exit 2
fi
if grep -qE '^\s*(replace|exclude)\b' go.mod; then
	echo "release: go.mod has a replace or exclude directive: 'go install ...@$version' would refuse it" >&2
	exit 1
fi
commit=$(git rev-parse HEAD)
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

rm -rf "$dist"
mkdir -p "$dist"
for program in teasel teasel-hub; do
	for arch in ${ARCHS:-amd64 arm64}; do
		name=${program}_${version#v}_linux_$arch
		mkdir "$dist/$name"
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS= go build -trimpath -buildvcs=false \
			-ldflags "-s -w -buildid= -X main.release=$version -X main.commit=$commit" -o "$dist/$name/$program" "./cmd/$program"
		cp LICENSE README.md CHANGELOG.md "$dist/$name/"
		tar -C "$dist" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$when" -cf - "$name" |
			gzip -n -9 >"$dist/$name.tar.gz"
		go -C tools run ./sbom "$(realpath "$dist/$name/$program")" "$version" >"$dist/$name.cdx.json"
		rm -r "${dist:?}/$name"
	done
done
(cd "$dist" && sha256sum -- *.tar.gz *.cdx.json >SHA256SUMS && cat SHA256SUMS)
