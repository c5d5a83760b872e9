#!/usr/bin/env bash
# Builds AFL++ 4.32c into the bench's folder and prints where it is: Debian 12 has 4.04c. The source is in crate cargo-afl of crates.io,
# at the version of aflplusplus/Cargo.lock. It is found by PATH, as Debian's is:
#
#	PATH=$(bench/native/aflplusplus.sh):$PATH bench/native/run.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=$(realpath -ms "${TEASEL_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/teasel/bench-native}")
readonly pins=bench/native/aflplusplus built=$cache/aflplusplus-4.32c project=$cache/aflplusplus-project
version=$(sed -n 's/^cargo-afl = "=\(.*\)"$/\1/p' "$pins/Cargo.toml")
readonly needed=(clang-14 llvm-14-dev libclang-rt-14-dev lld-14 gcc g++ make libc6-dev zlib1g-dev)

die() {
	printf 'aflplusplus.sh: error: AFL++ cannot be had: %s\n' "$1" >&2
	if [[ -n ${2:-} ]]; then printf 'hint: %s\n' "$2" >&2; fi
	exit 1
}

# complete DIR: are the fuzzer, the compiler's passes and the driver of harnesses there?
complete() { [[ -x $1/afl-fuzz && -x $1/afl-clang-fast && -f $1/SanitizerCoveragePCGUARD.so && -f $1/cmplog-instructions-pass.so && -f $1/libAFLDriver.a ]]; }

if complete "$built"; then
	printf '%s\n' "$built"
	exit
fi

missing=()
for p in "${needed[@]}"; do
	[[ $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) == *' installed' ]] || missing+=("$p")
done
if ((${#missing[@]} > 0)); then
	sudo=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || die "not root, and no sudo to install: ${missing[*]}"
		sudo=(sudo)
	fi
	printf 'aflplusplus.sh: installing %s\n' "${missing[*]}" >&2
	"${sudo[@]}" apt-get update -q >&2
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}" >&2
fi
command -v cargo >/dev/null || die "cargo is not installed" "Rust is at https://rustup.rs"

mkdir -p "$project/src"
cp "$pins/Cargo.toml" "$pins/Cargo.lock" "$project"
: >"$project/src/lib.rs"
(cd "$project" && cargo fetch --locked >&2) || die "cargo fetch has failed" "it needs crates.io and Rust 1.85 or newer"
# cargo metadata leaves out crates without a library.
sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/cargo-afl-"$version"/AFLplusplus)
[[ -f ${sources[0]}/src/afl-fuzz.c ]] || die "${sources[0]} has no source of AFL++"

rm -rf "$built.new"
cp -R "${sources[0]}" "$built.new"
printf 'aflplusplus.sh: building it, which takes some two minutes of processor time\n' >&2
(
	cd "$built.new"
	# The passes are built by the clang that builds the libraries; Python would only be for mutators of the user's.
	export LLVM_CONFIG=llvm-config-14 NO_PYTHON=1
	make -j2 afl-fuzz afl-showmap
	make -j2 -f GNUmakefile.llvm
	make -C utils/aflpp_driver
) >&2 || die "make has failed"
complete "$built.new" || die "$built.new lacks the compiler, or the driver of harnesses"
rm -rf "$built"
mv "$built.new" "$built"
printf '%s\n' "$built"
