#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
#
# ftnfsd --register with a real rpcbind, in namespaces of this test's own: what it registers, that it
# takes it back and nothing else, and that it never takes another server's place.
set -eu
. "$(dirname "$0")/store_lib.sh"

if [ "${1-}" != inside ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "NOT RUN: rpcbind needs root"
        exit 77
    fi
    exec unshare --net --mount --pid --fork --kill-child "$0" inside
fi
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
ip link set lo up
export PATH=$PATH:/usr/sbin:/sbin
server=$BUILD/bin/ftnfsd
ours='100003|100005|100227'

wait_for() {
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "in vain: $*"
    exit 1
}
registered() { rpcinfo -p 127.0.0.1 | grep -cE "^ *($ours) " || true; }
is() { # WHAT FOUND WANTED
    [ "$2" = "$3" ] || { printf '%s: "%s", not "%s"\n' "$1" "$2" "$3"; exit 1; }
}

rpcbind -f -w &
wait_for rpcinfo -p 127.0.0.1
"$server" --memory --export /a --register --port 0 --for 60s >"$scratch/log" &
pid=$!
wait_for grep -q '^nfs://' "$scratch/log"
port=$(sed -n 's/.*nfsport=\([0-9]*\)&.*/\1/p' "$scratch/log")
is "mappings" "$(registered)" 10
is "NFS's port" "$(rpcinfo -p 127.0.0.1 | awk '$1 == 100003 && $3 == "tcp" { print $4 }')" "$port"
rpcinfo -T tcp 127.0.0.1 100003 3 >/dev/null
rpcinfo -T udp 127.0.0.1 100005 3 >/dev/null

status=0
"$server" --memory --export /b --register --port 0 --for 60s >/dev/null 2>"$scratch/second" || status=$?
is "a second server" "$status" 4
grep -q 'another server of program 100003 is registered$' "$scratch/second"
is "mappings after the second one" "$(registered)" 10

kill "$pid"
wait "$pid"
is "mappings after the end" "$(registered)" 0
is "rpcbind's own" "$(rpcinfo -p 127.0.0.1 | awk '$1 == 100000' | wc -l)" 6
