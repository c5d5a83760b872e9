#!/usr/bin/env bash
# Compares teasel's side of AFL++'s fork server with afl-fuzz, by processor time per execution on the same programs.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in afl-fuzz afl-clang-fast taskset; do
	command -v "$tool" >/dev/null || {
		echo "forkserver.sh: $tool is not installed: scripts/setup-test.sh installs it" >&2
		exit 1
	}
done
exec go run ./bench/native/forkserver "$@"
