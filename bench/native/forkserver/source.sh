#!/usr/bin/env bash
# source.sh PACKAGE DIR: unpacks a Debian source package in DIR, without a change to apt's own lists.
set -euo pipefail
package=$1 dir=$2
mkdir -p "$dir/lists/partial"
cd "$dir"
codename=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
printf 'deb-src http://deb.debian.org/debian %s main\n' "$codename" >sources.list
options=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$dir/lists")
apt-get "${options[@]}" update -qq
apt-get "${options[@]}" source -qq "$package"
