#!/usr/bin/env bash
# Builds LibAFL's shim for libFuzzer, as an archive that harnesses are linked with, in the bench's folder; prints where it is. All
# comes from crates.io, at the versions of libafl/Cargo.lock. LIBAFL_ARCHIVE=FILE takes an archive that is there already.
#
# Crate libafl_libfuzzer builds the same runtime in its build script, but then renames its symbols, for harnesses in Rust, and fails where
# the toolchain has no llvm-tools. A harness in C needs none of that, so its runtime is built here by itself.
set -euo pipefail
if [[ -n ${LIBAFL_ARCHIVE:-} ]]; then LIBAFL_ARCHIVE=$(realpath -ms "$LIBAFL_ARCHIVE"); fi
cd "$(dirname "$0")/../.."

cache=$(realpath -ms "${TEASEL_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/teasel/bench-native}")
readonly pins=bench/native/libafl project=$cache/libafl/project archive=$cache/libafl/libFuzzer.a

die() {
	printf 'libafl.sh: error: LibAFL cannot be had: %s\n' "$1" >&2
	if [[ -n ${2:-} ]]; then printf 'hint: %s\n' "$2" >&2; fi
	exit 1
}

# usable FILE: has it a driver, by the archive's index? Of objects with Rust's intermediate code nm sees no symbols.
usable() { [[ -f $1 && $(nm -s "$1" 2>/dev/null | grep -c '^LLVMFuzzerRunDriver in ') -gt 0 ]]; }

if [[ -n ${LIBAFL_ARCHIVE:-} ]]; then
	usable "$LIBAFL_ARCHIVE" || die "LIBAFL_ARCHIVE=$LIBAFL_ARCHIVE is no archive with LLVMFuzzerRunDriver" "unset LIBAFL_ARCHIVE, to build one"
	printf '%s\n' "$LIBAFL_ARCHIVE"
	exit
fi

if [[ $archive -nt $pins/Cargo.toml && $archive -nt $pins/Cargo.lock ]] && usable "$archive"; then
	printf '%s\n' "$archive"
	exit
fi

for tool in cargo rustc clang c++ nm; do
	command -v "$tool" >/dev/null || die "$tool is not installed" "Rust is at https://rustup.rs, and apt-get install clang g++ binutils"
done
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$project"
cp "$pins/Cargo.toml" "$pins/Cargo.lock" "$project"
cd "$project"
# Cargo wants a source before it says where that of another crate is.
[[ -e src ]] || { mkdir src && : >src/lib.rs; }
printf 'libafl.sh: fetching LibAFL from crates.io\n' >&2
cargo fetch --locked --target "$host" >&2 || die "cargo fetch has failed" "it needs crates.io"
manifest=$(cargo metadata --locked --offline --all-features --filter-platform "$host" --format-version 1 |
	grep -o '"manifest_path":"[^"]*/libafl_libfuzzer-[0-9.]*/Cargo.toml"' | cut -d'"' -f4) || die "libafl_libfuzzer is not among what cargo has fetched"
rm -rf src build.rs
cp -R "${manifest%/Cargo.toml}/runtime/src" "${manifest%/Cargo.toml}/runtime/build.rs" .

printf 'libafl.sh: building it, which takes some four minutes of processor time\n' >&2
env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS cargo build --locked --offline --release --target "$host" --target-dir target >&2 ||
	die "cargo build has failed" "it needs Rust 1.93.1 or newer, and libclang; here is $(rustc --version)"
built=target/$host/release/libafl_libfuzzer_runtime.a
usable "$built" || die "$project/$built is no archive with LLVMFuzzerRunDriver"
mv "$built" "$archive"
rm -rf target
printf '%s\n' "$archive"
