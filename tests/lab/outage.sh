#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# outage.sh kill|move OUT.pcap
# outage.sh hang CLIENT.pcap SERVER.pcap
#
# Four clients, each in a network namespace of its own, use 10.7.0.1 while it is out of service:
#   kill   its only NFS-Ganesha is killed, and started again 3 s later
#   move   its machine drops off the network; 3 s later another one has the address, whose Ganesha
#          serves the same folder
#   hang   its only NFS-Ganesha stops for 2 s; 2 s after it went on, the network is cut for 2 s
# The capture is made on the bridge between them, for hang in the first client's machine and in the
# server's.  It ends by itself; nothing is left.
set -u
. "$(dirname "$0")/lib.sh"

# machine NAME ADDRESS...: a network namespace on the bridge
machine() {
    local name=$1 address
    shift
    ip netns add "$name"
    ip link add "v-$name" type veth peer name eth0 netns "$name"
    ip link set "v-$name" master bridge up
    for address; do
        ip -n "$name" address add "$address/24" dev eth0
    done
    ip -n "$name" link set lo up
    ip -n "$name" link set eth0 up
}

# ganesha NAME: serves $EXPORT in a machine; a process group of its own
ganesha() {
    setsid ip netns exec "$1" unshare --mount bash -c '
        mount -t tmpfs tmpfs /run
        rpcbind -f -w &
        while [ ! -S /run/rpcbind.sock ]; do sleep 0.02; done
        exec ganesha.nfsd -F -L "$SCRATCH/ganesha-'"$1"'.log" -f "$SCRATCH/ganesha.conf" \
            -p /run/ganesha.pid -N NIV_WARN' &
    ganesha_group=$!
}

serves() { # NAME: its Ganesha answers on the machine itself
    ip netns exec "$1" nfs-ls "nfs://127.0.0.1$EXPORT?version=3"
}

announce() { # a gratuitous ARP: the second machine has the address
    ip netns exec second python3 -c '
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
mac, ip = wire.getsockname()[4], socket.inet_aton("10.7.0.1")
wire.send(b"\xff" * 6 + mac + bytes.fromhex("08060001080006040001") + mac + ip + b"\0" * 6 + ip)'
}

clients() { # SECONDS
    local name
    for name in one two three four; do
        ip netns exec "$name" python3 "$lab/outage_client.py" 10.7.0.1 "$EXPORT" "$name" "$1" \
            >"$SCRATCH/$name.json" &
        client_pids+=($!)
    done
}

# capture_in MACHINE FILE: as capture_start, in a machine; its process is in $captured
capture_in() {
    ip netns exec "$1" tcpdump -i eth0 -Z root -s 262144 -B 65536 --immediate-mode -w "$2" \
        2>"$SCRATCH/$1.log" &
    captured=$!
    wait_for 10 grep -q 'listening on' "$SCRATCH/$1.log" || die "tcpdump does not capture in $1"
}

hang() {
    local near far server
    capture_in one "$OUT"
    near=$captured
    capture_in first "$OUT2"
    far=$captured
    clients 8
    server=$(pgrep -g "$ganesha_group" ganesha)
    sleep 1
    kill -STOP "$server"
    sleep 2
    kill -CONT "$server"
    sleep 2
    bridge link set dev v-first state 0
    sleep 2
    bridge link set dev v-first state 3
    wait "${client_pids[@]}"
    sleep 0.3
    kill -INT "$near" "$far"
    wait "$near" "$far"
    [ "$(cat "$SCRATCH"/one.log "$SCRATCH"/first.log | grep -c '^0 packets dropped')" -eq 2 ] ||
        die "a capture is incomplete"
    cat "$SCRATCH"/*.json
}

run() {
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    ip link add bridge type bridge
    ip link set bridge promisc on up
    machine one 10.7.0.21
    machine two 10.7.0.22
    machine three 10.7.0.23
    machine four 10.7.0.24
    sed "s|EXPORT_PATH|$EXPORT|g" "$lab/ganesha-vfs.conf" >"$SCRATCH/ganesha.conf"

    client_pids=()
    machine first 10.7.0.1
    ganesha first
    wait_for 20 serves first || die "Ganesha does not start"
    if [ "$MODE" = move ]; then
        machine second 10.7.0.12
        ganesha second
        wait_for 20 serves second || die "the second Ganesha does not start"
    fi
    if [ "$MODE" = hang ]; then
        hang
        return
    fi
    capture_start bridge "$OUT"
    clients 7
    sleep 1.5
    if [ "$MODE" = kill ]; then
        kill -KILL -- -"$ganesha_group"
        sleep 3
        ganesha first
    else
        ip link set v-first down
        sleep 3
        ip -n second address add 10.7.0.1/24 dev eth0
        announce
    fi
    wait "${client_pids[@]}"
    capture_stop
    cat "$SCRATCH"/*.json
}

if [ "${1-}" = --inside ]; then
    run
    exit
fi

case ${1-} in kill | move) want=2 ;; hang) want=3 ;; *) want=0 ;; esac
[ $# -eq "$want" ] || die "usage: outage.sh kill|move OUT.pcap, or hang CLIENT.pcap SERVER.pcap"
MODE=$1
OUT=$2
OUT2=${3-}
as_root_only
need unshare ip bridge pgrep tcpdump rpcbind ganesha.nfsd nfs-ls python3
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
EXPORT=$SCRATCH/export
mkdir -p "$EXPORT"
export SCRATCH EXPORT MODE OUT OUT2 PATH=$PATH:/usr/sbin:/sbin
timeout "${LIMIT:-120}" unshare --net --mount --pid --fork --kill-child "$lab/outage.sh" --inside
