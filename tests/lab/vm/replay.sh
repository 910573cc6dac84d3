#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# replay.sh BUILD WORK OUTPUT [CAPTURE...]
#
# Plays the trace of each CAPTURE (by default those of the repository) with BUILD's nfsreplay on knfsd, which
# runs in a virtual machine: as recorded, then at full speed.  OUTPUT has the reports of the runs.
# WORK is that of vm.sh, which must have run once.  OPTIONS are further ones of "nfsreplay play".
# Ends with 0 if every replay came to its end, whatever differed.
# Uses its own namespaces, and ends after an hour at the latest.
set -eu
. "$(dirname "$0")/../lib.sh"

target='nfs://10.99.0.2/srv/exp'

# play NAME PACE: populates, plays and cleans one dump
play() {
    local dump=$scratch/$1.rdump run=$output/$1-$2 status=0

    rm -rf "$run"
    # shellcheck disable=SC2086 # they are words
    "$build/bin/nfsreplay" run -q --privileged --pace "$2" ${OPTIONS:-} -o "$run" \
        "$dump" "$target" >"$run.log" 2>&1 || status=$?
    "$build/bin/nfsreplay" clean -q --privileged "$dump" "$target" >>"$run.log" 2>&1 ||
        echo "$1: clean: exit $?"
    if [ "$status" -gt 1 ]; then
        echo "$1, $2: exit $status: $(tail -n 1 "$run.log")"
        return 1
    fi
    "$build/bin/nfsreplay" report "$run" | sed -n '/^Verdict/,/^  all /p' | tr -s ' \n' ' ' |
        sed "s/^Verdict/$1, $2:/"
    echo
}

make_dump() { # CAPTURE NAME
    "$build/bin/nfsdigest" ingest -q -o "$scratch/$2.db" "$1"
    "$build/bin/nfsdigest" rdump --with-results -o "$scratch/$2.rdump" "$scratch/$2.db"
}

inside() {
    local capture name status=0
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    ip link set lo up
    ip tuntap add tap1 mode tap
    ip addr add 10.99.0.1/24 dev tap1
    ip link set tap1 up
    rm -rf "${output:?}/server"
    LIMIT=3000 "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/pair-server.sh" "$output/server" \
        -netdev tap,id=n0,ifname=tap1,script=no,downscript=no \
        -device virtio-net-pci,netdev=n0,mac=52:54:00:00:00:02 >"$output/server.log" 2>&1 &
    wait_for 120 grep -q READY "$output/server/console.log" || die "knfsd's machine does not start"
    for capture; do
        name=$(basename "$capture")
        name=${name%%.pcap*}
        make_dump "$capture" "$name" >"$output/$name.dump.log" 2>&1
        play "$name" trace || status=1
        play "$name" asap || status=1
    done
    exit "$status"
}

if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
fi
[ $# -ge 3 ] && [ -x "$1/bin/nfsreplay" ] ||
    die "usage: replay.sh BUILD WORK OUTPUT [CAPTURE...]"
as_root_only
need unshare ip qemu-system-x86_64
mkdir -p "$3"
build=$(cd "$1" && pwd) work=$(cd "$2" && pwd) output=$(cd "$3" && pwd)
shift 3
[ $# -gt 0 ] || set -- "$lab"/../../captures/*.pcap*
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export build work output scratch
timeout 3600 unshare --net --mount --pid --fork --kill-child "$lab/vm/replay.sh" --inside "$@"
