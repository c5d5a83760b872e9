#!/usr/bin/env bash
# Installs the rivals from Debian, fetches the sources of the libraries, and runs the comparison. Arguments go to
# `go run ./bench/native`; `bench/native/run.sh -h` lists them. The system's own package lists are left as they are: the
# sources come through a list in the bench's folder.
set -euo pipefail
if [[ -n ${LIBAFL_ARCHIVE:-} ]]; then
	LIBAFL_ARCHIVE=$(realpath -ms "$LIBAFL_ARCHIVE")
	export LIBAFL_ARCHIVE
fi
cd "$(dirname "$0")/../.."

readonly cache=${TEASEL_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/teasel/bench-native}
readonly sources=(cjson libxml2 libpng1.6 lcms2 libyaml yajl minizip libplist tinyxml2 json-c)
readonly needed=(afl++ clang llvm libclang-rt-14-dev zlib1g-dev dpkg-dev cmake make)

die() {
	printf 'bench: error: %s\n' "$*" >&2
	exit 1
}

# installed PACKAGE: is it there?
installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *' installed' ]]; }

packages() {
	local missing=() p
	for p in "${needed[@]}"; do installed "$p" || missing+=("$p"); done
	if ((${#missing[@]} == 0)); then return; fi
	local sudo=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || die "not root, and no sudo to install: ${missing[*]}"
		sudo=(sudo)
	fi
	printf 'bench: installing %s\n' "${missing[*]}" >&2
	"${sudo[@]}" apt-get update -q >&2
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}" >&2
}

fetch() {
	local missing=() s
	for s in "${sources[@]}"; do
		compgen -G "$cache/src/${s}_*.dsc" >/dev/null || missing+=("$s")
	done
	if ((${#missing[@]} == 0)); then return; fi
	printf 'bench: fetching the sources of %s\n' "${missing[*]}" >&2
	mkdir -p "$cache/apt/lists/partial" "$cache/src"
	# shellcheck source=/dev/null
	local suite
	suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
	printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' "$suite" >"$cache/apt/sources.list"
	local options=(-o "Dir::Etc::sourcelist=$cache/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$cache/apt/lists"
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
	apt-get "${options[@]}" -q update >&2
	(cd "$cache/src" && apt-get "${options[@]}" -q source "${missing[@]}" >&2)
}

command -v go >/dev/null || die "Go is not installed; see https://go.dev/doc/install"
command -v apt-get >/dev/null || die "no apt-get: install ${needed[*]} and unpack the sources of ${sources[*]} into $cache/src, then go run ./bench/native -cache $cache"
packages
fetch
exec go run ./bench/native -cache "$cache" "$@"
