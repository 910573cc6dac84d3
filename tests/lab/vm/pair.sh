#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pair.sh WORK OUTPUT [tcp|udp [SERVER...]]
#
# Runs the same client machine and workload against each SERVER, and makes one capture of each:
#   ftnfsd       on this host; FTNFSD=FILE is the program
#   ganesha-vfs  Ganesha's VFS back end, on this host
#   knfsd        in a second machine
# The captures are OUTPUT/pair-SERVER.pcap.  Without SERVER, these are ganesha-vfs and knfsd.
# WORK is that of vm.sh, which must have run once; udp needs NFS_KO.
# Uses its own namespaces, and ends after an hour at the latest.
set -eu
. "$(dirname "$0")/../lib.sh"

client() { # NAME SERVER EXPORT
    printf 'SERVER=%s\nEXPORT=%s\nPROTO=%s\n' "$2" "$3" "$proto" >"$scratch/parameters"
    capture_start tap0 "$output/$1.pcap"
    PARAMETERS=$scratch/parameters MEMORY=2048 IMAGE=256M \
        "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/pair-client.sh" "$output/$1" \
        -netdev tap,id=n0,ifname=tap0,script=no,downscript=no \
        -device virtio-net-pci,netdev=n0,mac=52:54:00:00:00:11
    capture_stop
}

# --register, since the client asks rpcbind for the ports.
with_ftnfsd() {
    local server
    "$FTNFSD" --memory --listen 10.99.0.1 --register --export '/srv(no_root_squash)' \
        --control /run/ftnfsd.sock >"$output/ftnfsd.log" &
    server=$!
    wait_for 10 "$FTNFSD" ctl /run/ftnfsd.sock help || die "ftnfsd does not start"
    client pair-ftnfsd 10.99.0.1 /srv
    "$FTNFSD" ctl /run/ftnfsd.sock check
    kill "$server"
    wait "$server"
}

with_ganesha-vfs() {
    local server
    mkdir -p "$scratch/export"
    sed "s|EXPORT_PATH|$scratch/export|g" "$lab/ganesha-vfs.conf" >"$scratch/ganesha.conf"
    ganesha.nfsd -F -L "$scratch/ganesha.log" -f "$scratch/ganesha.conf" -p /run/ganesha.pid \
        -N NIV_WARN &
    server=$!
    wait_for 20 nfs-ls "nfs://127.0.0.1$scratch/export?version=3" || die "Ganesha does not start"
    client pair-ganesha-vfs 10.99.0.1 "$scratch/export"
    kill "$server"
    wait "$server" || :
}

with_knfsd() {
    LIMIT=3000 "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/pair-server.sh" "$output/server" \
        -netdev tap,id=n0,ifname=tap1,script=no,downscript=no \
        -device virtio-net-pci,netdev=n0,mac=52:54:00:00:00:02 &
    wait_for 120 grep -q READY "$output/server/console.log" || die "knfsd's machine does not start"
    client pair-knfsd 10.99.0.2 /srv/exp
}

# What still runs at the end of knfsd, the machine, ends with the namespace.
all_servers() {
    local tap server
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    ip link set lo up
    ip link add br0 type bridge
    ip addr add 10.99.0.1/24 dev br0
    ip link set br0 up
    for tap in tap0 tap1; do
        ip tuntap add "$tap" mode tap
        ip link set "$tap" master br0 up
    done
    rpcbind -f -w &
    wait_for 10 test -S /run/rpcbind.sock || die "rpcbind does not start"
    for server; do
        "with_$server"
    done
}

if [ "${1-}" = --inside ]; then
    shift
    all_servers "$@"
    exit
fi
[ $# -ge 2 ] || die "usage: pair.sh WORK OUTPUT [tcp|udp [SERVER...]]"
as_root_only
need unshare ip tcpdump rpcbind qemu-system-x86_64
mkdir -p "$1" "$2"
work=$(cd "$1" && pwd) output=$(cd "$2" && pwd) proto=${3:-tcp}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export work output proto scratch
shift "$(($# < 3 ? $# : 3))"
[ $# -gt 0 ] || set -- ganesha-vfs knfsd
for server; do
    case $server in
    ftnfsd) need "${FTNFSD:?must name the program ftnfsd}" ;;
    ganesha-vfs) need ganesha.nfsd nfs-ls ;;
    knfsd) ;;
    *) die "no such server: $server" ;;
    esac
done
timeout 3600 unshare --net --mount --pid --fork --kill-child "$lab/vm/pair.sh" --inside "$@"
