#!/bin/sh
# Kills the machines and the hub of a fleet at random moments, and checks that nothing that was acknowledged is lost: a campaign in the test
# itself, and one of each kind of target with teasel and teasel-hub.
#
#     scripts/fleet-kills.sh [KILLS [MACHINES]]
set -eu
cd "$(dirname "$0")/.."
FLEET_KILLS=${1:-200} FLEET_MACHINES=${2:-4} go test ./fleet ./cmd/teasel-hub -run 'TestKills|TestFleet/Kills' -count=1 -v -timeout 90m
