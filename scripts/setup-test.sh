#!/usr/bin/env bash
# Installs what the tests need beside Go: a C compiler for the race detector,
# clang, its linkers, AFL++ and cargo for native targets, servers of network protocols, Chromium, tmux, Node.js, and the real MCP servers under mcp/testdata/servers. Safe to run
# again at any time; with everything in place it takes a second or two.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly min_node=18
readonly servers=mcp/testdata/servers

say() { printf 'setup: %s\n' "$*"; }
die() {
	printf 'setup: error: %s\n' "$*" >&2
	exit 1
}

# node_ok: is there a Node.js new enough, with npm?
node_ok() {
	command -v npm >/dev/null || return 1
	local version
	version=$(node --version 2>/dev/null) || return 1
	version=${version#v}
	((${version%%.*} >= min_node))
}

# debian PACKAGE...: installs Debian packages, or says why it cannot.
debian() {
	command -v apt-get >/dev/null ||
		die "install these yourself, then run this again (no apt-get here): $*"
	local sudo=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || die "not root, and no sudo to install: $*"
		sudo=(sudo)
	fi
	say "installing Debian packages: $*"
	local log
	log=$(mktemp)
	if ! {
		"${sudo[@]}" apt-get update &&
			"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
				apt-get install -y --no-install-recommends "$@"
	} </dev/null >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		die "apt-get could not install: $*"
	fi
	rm -f "$log"
}

# npm_servers: the published servers, at the versions of package-lock.json.
npm_servers() {
	local want have=
	want="$(sha256sum "$servers/npm/package-lock.json" | cut -d' ' -f1) node $(node --version)"
	local stamp=$servers/npm/node_modules/.installed
	if [[ -f $stamp ]]; then have=$(<"$stamp"); fi
	if [[ $have == "$want" ]]; then
		say "npm servers: already installed"
		return
	fi
	say "npm servers: npm ci in $servers/npm"
	(cd "$servers/npm" && npm ci --no-progress --loglevel=error </dev/null)
	printf '%s\n' "$want" >"$stamp"
}

# go_servers: the servers written on the two Go SDKs.
go_servers() {
	say "Go servers: go build into $servers/bin"
	mkdir -p "$servers/bin"
	(cd "$servers/go" && CGO_ENABLED=0 go build -buildvcs=false -o ../bin/ ./gosdk ./mcpgo)
	(cd "$servers/go-old" && CGO_ENABLED=0 go build -buildvcs=false -o ../bin/old .)
}

# python_servers: the Python SDK and FastMCP at the versions of requirements.txt, in a folder of their own, and beside it an old Python SDK.
python_servers() {
	local want have=
	want="$(sha256sum "$servers/python/requirements.txt" | cut -d' ' -f1) $(python3 --version)"
	local venv=$servers/python/venv
	if [[ -f $venv/.installed ]]; then have=$(<"$venv/.installed"); fi
	if [[ $have == "$want" ]]; then
		say "Python servers: already installed"
		return
	fi
	say "Python servers: pip install into $venv"
	rm -rf "$venv"
	python3 -m venv "$venv"
	local pip=("$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps)
	"${pip[@]}" -r "$servers/python/requirements.txt" </dev/null
	"${pip[@]}" --target "$venv/old" mcp==1.21.2 </dev/null
	printf '%s\n' "$want" >"$venv/.installed"
}

# rust_crates: those of examples/rust, at the versions of its Cargo.lock. Without them its test says that it is skipped.
rust_crates() {
	say "Rust crates: cargo fetch in examples/rust/fuzz"
	(cd examples/rust/fuzz && { cargo fetch --locked --offline || cargo fetch --locked; } </dev/null >/dev/null 2>&1) ||
		say "Rust crates: not to be had with $(cargo --version); they need Rust 1.78 or newer"
}

command -v go >/dev/null || die "Go is not installed; see https://go.dev/doc/install"

if ! command -v "${CC:-gcc}" >/dev/null; then debian gcc libc6-dev; fi
if ! command -v clang >/dev/null; then debian clang llvm libclang-rt-dev; fi
if ! { command -v ld.gold && command -v ld.lld && command -v ld.mold; } >/dev/null; then debian binutils lld mold; fi
if ! command -v afl-fuzz >/dev/null; then debian afl++; fi
if ! command -v cargo >/dev/null; then debian cargo; fi
PATH=$PATH:/usr/sbin
if ! { command -v mosquitto && command -v dnsmasq && command -v redis-server && command -v vsftpd && command -v openssl; } >/dev/null; then
	debian mosquitto dnsmasq-base redis-server vsftpd openssl
fi
if ! { command -v kamailio && command -v in.tftpd && command -v coap-server-notls && command -v tcpdump; } >/dev/null; then
	debian kamailio tftpd-hpa libcoap3-bin tcpdump
fi
if ! { command -v nginx && command -v snmpd && command -v chronyd; } >/dev/null; then debian nginx-light snmpd chrony; fi
if ! command -v chromium >/dev/null; then debian chromium; fi
if ! command -v tmux >/dev/null; then debian tmux; fi
# Debian's own Python: the tests do not look at others.
if ! /usr/bin/python3 -c 'import aiosmtpd, pymodbus.server, zeroconf' 2>/dev/null; then
	debian python3 python3-aiosmtpd python3-pymodbus python3-serial python3-serial-asyncio python3-zeroconf
fi
if ! python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then debian python3 python3-venv; fi
if ! node_ok; then
	debian nodejs npm
	hash -r
	node_ok || die "Node.js $min_node or newer is needed, with npm; found $(node --version 2>&1 || true)"
fi

# Two test runs in one tree must not install over each other.
mkdir -p "$servers/bin"
exec 9>"$servers/bin/.lock"
flock 9
npm_servers
go_servers
python_servers
rust_crates
say "ready: $(go version | cut -d' ' -f3), node $(node --version)"
