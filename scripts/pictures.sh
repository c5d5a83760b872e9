#!/usr/bin/env bash
# Makes the pictures of the README from a real campaign, the one of teasel
# demo: the screen, as tmux shows it, and the page, as Chromium does.
#
#   scripts/pictures.sh           into docs/pictures; needs tmux and chromium
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=docs/pictures port=$((20000 + RANDOM % 20000)) seconds=${SECONDS_OF_CAMPAIGN:-25} most=300000
for tool in tmux chromium; do
	command -v "$tool" >/dev/null || {
		echo "pictures: $tool is not installed; scripts/setup-test.sh installs it" >&2
		exit 1
	}
done
work=$(mktemp -d)
tmux() { command tmux -u -S "$work/tmux" "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out"
go build -o "$work/teasel" ./cmd/teasel
go -C tools build -o "$work/termsvg" ./termsvg

# One campaign shows both. Its terminal stays until we are done.
tmux -f /dev/null new-session -d -x 120 -y 36 -c "$work" \
	"exec env -u CI -u NO_COLOR LC_ALL=C.UTF-8 TERM=screen-256color TEASEL_UI_TOKEN= '$work/teasel' demo --seed 1 --duration 10m --ui 127.0.0.1:$port --out '$work/teasel-demo' 2>&1"
for ((i = 0; i < 300; i++)); do
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
	sleep 0.2
done
sleep "$seconds"
tmux capture-pane -e -p | "$work/termsvg" >"$out/screen.svg"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb --user-data-dir="$work/chromium" \
	--window-size=1280,1150 --virtual-time-budget=4000 --screenshot="$work/page.png" "http://127.0.0.1:$port/" >/dev/null 2>&1
mv "$work/page.png" "$out/page.png"
tmux send-keys q
for ((i = 0; i < 150; i++)); do # until the campaign has ended, and its window with it
	tmux has-session 2>/dev/null || break
	sleep 0.2
done
for f in "$out/screen.svg" "$out/page.png"; do
	size=$(stat -c %s "$f")
	echo "$f: $size bytes"
	if ((size > most)); then
		echo "pictures: $f has more than $most bytes" >&2
		exit 1
	fi
done
