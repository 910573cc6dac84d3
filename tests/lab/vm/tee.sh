#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tee.sh BUILD WORK OUTPUT [REFERENCE SUT [WORKLOAD...]]
#
# A Linux client in a virtual machine works through BUILD's "nfstee run" on REFERENCE, and SUT is compared
# with it.  Servers are
#   ftnfsd       on this host
#   ganesha-vfs  Ganesha's VFS back end, on this host
#   knfsd        in a machine of its own
# Without them, both are ganesha-vfs.  Each has a network namespace or a machine of its own: 10.99.0.1 is
# the reference, .2 the SUT, .9 the relay, .11 the client.
# Workloads are those of workloads.sh (two: two mounts without caches), kinds (many kinds of operations, and
# errors), mail (small files) and all22 (all procedures, by libnfs); without any: kinds mail git random all22.
# OUTPUT has the shadow's log, what "nfsdigest compare" says about it (compare.txt), and its totals
# (shadow.json).  RULES="FILE..." are rules for both.
#
# WORK is that of vm.sh, which must have run once; the programs for the workloads are in WORK/tools.img,
# which is made if it is not there.  SEED=1, FILES=300, OPERATIONS=150: of workloads; PROTO=tcp or udp (needs
# NFS_KO).  OPTIONS are further ones of nfstee run.
# Ends with 0 if all workloads worked and nothing differed, 1 if something differed.
# Uses its own namespaces, and ends after LIMIT seconds (3600) at the latest.
set -eu
. "$(dirname "$0")/../lib.sh"

# in_box NAME COMMAND...: in that network, with a /run of its own
in_box() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    exec ip netns exec "$name" sh -c 'mount --bind "$1" /run && shift && exec "$@"' sh \
        "$scratch/run-$name" "$@"
}

add_box() { # NAME ADDRESS
    ip netns add "$1"
    ip link add "h-$1" type veth peer name e0 netns "$1"
    ip link set "h-$1" master br0 up
    ip -n "$1" addr add "$2/24" dev e0
    ip -n "$1" link set e0 up
    ip -n "$1" link set lo up
    mkdir "$scratch/run-$1"
}

machine() { # TAP MAC JOB FOLDER PARAMETERS [QEMU-OPTION...]
    local tap=$1 mac=$2 job=$3 folder=$4
    export PARAMETERS=$5
    shift 5
    ip tuntap add "$tap" mode tap
    ip link set "$tap" master br0 up
    "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/$job" "$folder" \
        -netdev "tap,id=n0,ifname=$tap,script=no,downscript=no" \
        -device "virtio-net-pci,netdev=n0,mac=$mac" "$@"
}

# serve SERVER NAME ADDRESS: starts it, and sets $url and $export when it serves
serve() {
    local box=$2 address=$3
    case $1 in
    ftnfsd)
        export=/srv url="nfs://$address/srv?nfsport=2049&mountport=2049"
        add_box "$box" "$address"
        in_box "$box" rpcbind -f -w >"$output/$box-rpcbind.log" 2>&1 &
        wait_for 10 test -S "$scratch/run-$box/rpcbind.sock" || die "rpcbind does not start"
        in_box "$box" "$build/bin/ftnfsd" --memory --listen "$address" --register \
            --export '/srv(no_root_squash)' --control /run/ftnfsd.sock >"$output/$box.log" 2>&1 &
        wait_for 10 test -S "$scratch/run-$box/ftnfsd.sock" || die "ftnfsd does not start"
        ;;
    ganesha-vfs)
        export=$scratch/$box url="nfs://$address$export?nfsport=2049&mountport=20048"
        mkdir -p "$export"
        mount -t tmpfs -o mode=755 none "$export"
        add_box "$box" "$address"
        in_box "$box" rpcbind -f -w >"$output/$box-rpcbind.log" 2>&1 &
        wait_for 10 test -S "$scratch/run-$box/rpcbind.sock" || die "rpcbind does not start"
        sed "s|EXPORT_PATH|$export|g" "$lab/ganesha-vfs.conf" >"$scratch/$box.conf"
        in_box "$box" ganesha.nfsd -F -L "$output/$box.log" -f "$scratch/$box.conf" \
            -p /run/ganesha.pid -N NIV_WARN >/dev/null 2>&1 &
        wait_for 30 ip netns exec "$box" nfs-ls \
            "nfs://$address$export?version=3&nfsport=2049&mountport=20048" ||
            die "Ganesha does not start"
        ;;
    knfsd)
        export=/srv/exp url="nfs://$address/srv/exp?nfsport=2049&mountport=20048"
        echo "ADDRESS=$address" >"$scratch/$box-parameters"
        # with less memory, it takes no WRITE of 1 MiB, which the client sends
        MEMORY=5120 machine "tap-$box" "52:54:00:00:00:0${address##*.}" pair-server.sh "$output/$box" \
            "$scratch/$box-parameters" >"$output/$box.log" 2>&1 &
        wait_for 300 grep -q READY "$output/$box/console.log" ||
            die "knfsd's machine does not start"
        ;;
    *) die "no such server: $1" ;;
    esac
}

in_tee() {
    ip netns exec tee "$@"
}

count_of() { # NAME: of the shadow's statistics
    in_tee "$build/bin/nfstee" ctl "$scratch/shadow.sock" statistics >"$scratch/statistics" &&
        grep -o "\"$1\":[0-9]*" "$scratch/statistics" | head -n 1 | grep -o '[0-9]*$'
}

compare() {
    local rule words=() status=0
    # shellcheck disable=SC2086 # they are words
    for rule in ${RULES-}; do
        words+=(--rules "$rule")
    done
    "$build/bin/nfsdigest" compare "${words[@]}" "$output/log" >"$output/compare.txt" || status=$?
    cat "$output/compare.txt"
    return "$status"
}

tee_both() {
    local reference sut rule words=() tee status=0
    serve "$1" ref 10.99.0.1
    reference=$url client_export=$export
    serve "$2" sut 10.99.0.2
    sut=$url
    shift 2
    add_box tee 10.99.0.9
    for rule in ${RULES-}; do
        words+=(--rules "$rule")
    done
    # shellcheck disable=SC2086 # they are words
    ip netns exec tee "$build/bin/nfstee" run --listen 10.99.0.9:2049 --mount-listen 10.99.0.9:20048 \
        --portmap 10.99.0.9:111 --to "$reference" --sut "$sut" --log "$output/log" --record all \
        --shadow-control "$scratch/shadow.sock" --json "${words[@]}" ${OPTIONS-} \
        >"$output/shadow.json" 2>"$output/tee.log" &
    tee=$!
    wait_for 30 test -S "$scratch/shadow.sock" || die "nfstee: $(cat "$output/tee.log")"
    printf '%s\n' "SERVER=10.99.0.9" "EXPORT=$client_export" "PROTO=${PROTO:-tcp}" \
        "SEED=${SEED:-1}" "FILES=${FILES:-300}" "OPERATIONS=${OPERATIONS:-150}" \
        "WORKLOADS='$*'" >"$scratch/parameters"
    MEMORY=1536 machine tap-client 52:54:00:00:00:11 tee-client.sh "$output/client" \
        "$scratch/parameters" -drive "file=$work/tools.img,if=virtio,format=raw,readonly=on" \
        >"$output/client.log" 2>&1 || status=2
    grep -E 'works|FAILED' "$output/client/job.log" || status=2
    sleep 2
    in_tee "$build/bin/nfstee" ctl "$scratch/shadow.sock" statistics || :
    echo
    kill "$tee"
    wait "$tee" || :
    compare || [ "$status" -ne 0 ] || status=1
    return "$status"
}

# What still runs at the end ends with the namespace.
inside() {
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    mkdir /run/netns
    ip link set lo up
    ip link add br0 type bridge
    ip link set br0 up
    tee_both "$@"
}

if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi
[ $# -ge 3 ] && [ $# -ne 4 ] && [ -x "$1/bin/nfstee" ] ||
    die "usage: tee.sh BUILD WORK OUTPUT [REFERENCE SUT [WORKLOAD...]]"
as_root_only
need unshare ip qemu-system-x86_64 rpcbind
mkdir -p "$3"
build=$(cd "$1" && pwd) work=$(cd "$2" && pwd) output=$(cd "$3" && pwd)
reference=${4:-ganesha-vfs} sut=${5:-ganesha-vfs}
case $reference$sut in *ganesha*) need ganesha.nfsd nfs-ls ;; esac
shift "$(($# < 5 ? $# : 5))"
[ $# -gt 0 ] || set -- kinds mail git random all22
[ -e "$work/tools.img" ] || "$lab/vm/tools.sh" "$work" /bin/true
rm -rf "$output/log" "$output/ref" "$output/sut" "$output/client"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export build work output scratch
timeout "${LIMIT:-3600}" unshare --net --mount --pid --fork --kill-child "$lab/vm/tee.sh" --inside \
    "$reference" "$sut" "$@"
