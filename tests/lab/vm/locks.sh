#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# locks.sh BUILD WORK OUTPUT
#
# Two Linux clients lock one file of knfsd through BUILD's "nfstee relay --transparent".  The clients, the
# relay and the server are in 10.99.0.0/24 (.11 and .12), in both networks (.9), and in 10.98.0.0/24 (.2).
# It says how long the second client waits for the lock after the first one gave it back, and what the server
# saw.  Ends with 0 if both locked.  WORK is that of vm.sh, which must have run once.
# Uses its own namespaces, and ends after LIMIT seconds (900) at the latest.
set -eu
. "$(dirname "$0")/../lib.sh"

machine() { # TAP BRIDGE MAC JOB FOLDER PARAMETERS
    ip tuntap add "$1" mode tap
    ip link set "$1" master "$2" up
    PARAMETERS=$6 MEMORY=1024 "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/$4" "$5" \
        -netdev "tap,id=n0,ifname=$1,script=no,downscript=no" \
        -device "virtio-net-pci,netdev=n0,mac=$3"
}

# What the server sends from its ports is for the relay; what it sends of its own goes on to the clients.
route() {
    local protocol port
    echo 1 >/proc/sys/net/ipv4/ip_forward
    rpcinfo -p 10.98.0.2 | awk '$1 ~ /^100(003|005|021|024)$/ { print $3, $4 }' | sort -u |
        while read -r protocol port; do
            ip rule add iif s0 from 10.98.0.2 ipproto "$protocol" sport "$port" lookup 100
        done
    ip route add local default dev lo table 100
    ip rule
}

inside() {
    local relay tap status=0
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    mount -t sysfs sysfs /sys 2>/dev/null || :
    ip link set lo up
    ip link add c0 type bridge
    ip link add s0 type bridge
    ip addr add 10.99.0.9/24 dev c0
    ip addr add 10.98.0.9/24 dev s0
    ip link set c0 up
    ip link set s0 up
    printf 'ADDRESS=10.98.0.2\nROUTER=10.98.0.9\n' >"$scratch/server"
    machine tap-server s0 52:54:00:00:00:02 pair-server.sh "$output/server" "$scratch/server" \
        >"$output/server.log" 2>&1 &
    wait_for 300 grep -q READY "$output/server/console.log" || die "knfsd's machine does not start"
    route >"$output/rules"
    "$build/bin/nfstee" relay --listen 10.99.0.9:2049 --mount-listen 10.99.0.9:20048 \
        --portmap 10.99.0.9:111 --to nfs://10.98.0.2/srv/exp --transparent \
        --attach "$scratch/ring" --control "$scratch/relay.sock" >"$output/relay.log" &
    relay=$!
    wait_for 30 test -S "$scratch/relay.sock" || die "nfstee: $(cat "$output/relay.log")"
    "$build/bin/nfstee" tap --attach "$scratch/ring" -o "$output/locks.nfsr" 2>"$output/tap.log" &
    tap=$!
    echo 'RELAY=10.99.0.9' >"$scratch/client"
    machine tap-client c0 52:54:00:00:00:11 locks-client.sh "$output/client" "$scratch/client" \
        >"$output/client.log" 2>&1 || status=1
    kill "$relay"
    wait "$relay" "$tap" || :
    cat "$output/relay.log"
    grep -h 'client ' "$output/client/job.log" || :
    "$build/bin/nfsdigest" ops "$output/locks.nfsr" | grep -c ' NLM ' || :
    exit "$status"
}

if [ "${1-}" = --inside ]; then
    inside
fi
[ $# -eq 3 ] && [ -x "$1/bin/nfstee" ] || die "usage: locks.sh BUILD WORK OUTPUT"
as_root_only
need unshare ip rpcinfo qemu-system-x86_64
mkdir -p "$3"
build=$(cd "$1" && pwd) work=$(cd "$2" && pwd) output=$(cd "$3" && pwd)
rm -rf "$output/server" "$output/client"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export build work output scratch
timeout "${LIMIT:-900}" unshare --net --mount --pid --fork --kill-child "$lab/vm/locks.sh" --inside
