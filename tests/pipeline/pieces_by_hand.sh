#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/scale.md, as they stand there: pieces by xargs, and those that join names made again, become
# the stream of one run.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$(dirname "$NFSDIGEST"):$PATH
export PATH
cd "$work"
zstd -dcq "$CAPTURES/load-ganesha-vfs.pcap.zst" >day.pcap
sed -n '/^## With plain commands/,/^## /p' "$SRC/docs/scale.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' >commands
grep -q xargs commands

nfsdigest record -o run.nfsr day.pcap
nfsdigest names --canonical -o run.canon run.nfsr >run.log

# With the lead-in that nfsdigest chooses, and with one that is too short for anything.
for more in '' '--lead-in 5000 --lead-in-time 1ms'; do
    rm -f [0-9]*.* day.nfsr
    size=90000 more=$more sh -eux commands >log 2>&1 || {
        cat log
        exit 1
    }
    [ -e 4.border ] && [ ! -e 5.border ]
    nfsdigest names --canonical -o day.canon day.nfsr >day.log
    cmp run.canon day.canon
    grep -c '^+ again=' log >>again || :
done
cat again
[ "$(tail -1 again)" -gt 0 ]
