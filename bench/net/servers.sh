#!/usr/bin/env bash
# Builds mosquitto, dnsmasq and vsftpd from Debian's source packages with coverage in them, each in a folder of its own under
# the bench's cache, and prints where that is. The compiler is $CC: afl-clang-fast unless it says otherwise, for example
#   CC='teasel cc' bench/net/servers.sh
# SANITIZE=1 adds AddressSanitizer. RELEASE=trixie takes the sources of that release of Debian in place of this machine's. Names of
# servers as arguments build these only.
set -euo pipefail

readonly cc=${CC:-afl-clang-fast}
kind=${cc%% *}
kind=$(basename "$kind")${SANITIZE:+-asan}
readonly cache=${TEASEL_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/teasel/bench-net} kind
readonly release=${RELEASE:-$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")}
readonly out=$cache/$kind apt=$cache/apt-$release
readonly flags="-g -O1${SANITIZE:+ -fsanitize=address}"

say() { printf 'servers.sh: %s\n' "$*" >&2; }
die() {
	printf 'servers.sh: error: %s\n' "$*" >&2
	exit 1
}

# source_of PACKAGE DIR: unpacks a source package. Lists of their own, so that the machine's are left as they are, and what is
# installed does not say which version is taken.
source_of() {
	local package=$1 dir=$2
	command -v apt-get >/dev/null || die "there is no apt-get: the source packages are Debian's"
	command -v dpkg-source >/dev/null || die "dpkg-source is missing: apt-get install dpkg-dev"
	mkdir -p "$apt/lists/partial" "$apt/parts"
	touch "$apt/status"
	printf 'deb-src http://deb.debian.org/debian %s main\ndeb-src http://deb.debian.org/debian-security %s-security main\n' "$release" "$release" >"$apt/sources.list"
	local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
		-o APT::Sandbox::User=root)
	if [[ -z $(find "$apt/lists" -name '*Sources*' -mmin -1440 -print -quit) ]]; then apt-get "${options[@]}" update; fi
	rm -rf "$dir"
	mkdir -p "$dir"
	(cd "$dir" && apt-get "${options[@]}" source --download-only "$package" >/dev/null && dpkg-source -x --no-check ./*.dsc src >/dev/null)
}

build_mosquitto() {
	source_of mosquitto "$cache/source/mosquitto-$kind"
	local make=(make -s CC="$cc" CXX=c++ CFLAGS="$flags" LDFLAGS="${SANITIZE:+-fsanitize=address}" WITH_TLS=no WITH_DOCS=no WITH_CJSON=no WITH_SYSTEMD=no WITH_WRAP=no WITH_SRV=no WITH_WEBSOCKETS=no)
	(cd "$cache/source/mosquitto-$kind/src" && "${make[@]}" -C lib libmosquitto.so.1 && "${make[@]}" -C src mosquitto)
	cp "$cache/source/mosquitto-$kind/src/src/mosquitto" "$out/mosquitto"
}

build_dnsmasq() {
	source_of dnsmasq "$cache/source/dnsmasq-$kind"
	(cd "$cache/source/dnsmasq-$kind/src" && make -s CC="$cc" CFLAGS="$flags" LDFLAGS="${SANITIZE:+-fsanitize=address}")
	cp "$cache/source/dnsmasq-$kind/src/src/dnsmasq" "$out/dnsmasq"
}

build_vsftpd() {
	source_of vsftpd "$cache/source/vsftpd-$kind"
	(
		cd "$cache/source/vsftpd-$kind/src"
		sed -i 's/^#define VSF_BUILD_\(PAM\|SSL\|TCPWRAPPERS\)/#undef VSF_BUILD_\1/' builddefs.h
		make -s CC="$cc" CFLAGS="$flags -Wno-error" LDFLAGS="${SANITIZE:+-fsanitize=address}" LINK= LIBS="-lcrypt" vsftpd
	)
	cp "$cache/source/vsftpd-$kind/src/vsftpd" "$out/vsftpd"
}

command -v "${cc%% *}" >/dev/null || die "${cc%% *} is not installed: scripts/setup-test.sh installs AFL++, and make builds teasel"
mkdir -p "$out"
if [[ -n ${SANITIZE:-} ]]; then export AFL_USE_ASAN=1; fi
export AFL_QUIET=1
for server in "${@:-mosquitto}"; do [[ $server =~ ^(mosquitto|dnsmasq|vsftpd)$ ]] || die "$server is none of mosquitto, dnsmasq, vsftpd"; done
if (($# == 0)); then set -- mosquitto dnsmasq vsftpd; fi
for server in "$@"; do
	if [[ -x $out/$server ]]; then
		say "$server: already built"
		continue
	fi
	say "$server: building with $cc"
	log=$cache/$server-$kind.log
	set +e # or a step that fails would not end the build
	(
		set -e
		"build_$server"
	) >"$log" 2>&1
	status=$?
	set -e
	if ((status != 0)); then
		tail -20 "$log" >&2
		die "$server could not be built; all that was said is in $log"
	fi
done
printf '%s\n' "$out"
