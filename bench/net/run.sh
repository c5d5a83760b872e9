#!/usr/bin/env bash
# Compares teasel with boofuzz on an instrumented mosquitto, in one run: dialogues a second with a kept connection and with a new
# one each, how often the same dialogue reaches the same edges, and boofuzz's tests a second. boofuzz comes from PyPI at the
# version below, into a virtual environment in the bench's cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly cache=${TEASEL_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/teasel/bench-net} boofuzz=0.4.2
servers=$(bench/net/servers.sh mosquitto)
readonly servers
if [[ ! -x $cache/venv/bin/python ]]; then
	python3 -m venv "$cache/venv" || {
		echo 'run.sh: error: a virtual environment cannot be made: apt-get install python3-venv' >&2
		exit 1
	}
fi
"$cache/venv/bin/pip" install -q "boofuzz==$boofuzz"

folder=$(mktemp -d)
trap 'kill "$broker" 2>/dev/null || true; rm -rf "$folder"' EXIT
broker=
chmod 755 "$folder"
cp "$servers/mosquitto" "$folder/mosquitto" # where the user nobody may run it
printf 'allow_anonymous true\npersistence false\nlog_dest none\n' >"$folder/conf"
go build -o "$folder/net" ./bench/net
uptime
"$folder/net" --seed 3 --keep --from 1 --to 2 --runs "${RUNS:-20000}" -- "$folder/mosquitto" -c "$folder/conf" -p '{port}'
"$folder/net" --seed 3 --to 2 --runs "${RUNS:-20000}" -- "$folder/mosquitto" -c "$folder/conf" -p '{port}'
readonly port=21883
"$folder/mosquitto" -c "$folder/conf" -p "$port" >/dev/null 2>&1 &
broker=$!
sleep 1
for how in wait go plain; do "$cache/venv/bin/python" bench/net/rival.py "$port" "${TESTS:-100}" "$how" 2>&1 | tail -1; done
uptime
