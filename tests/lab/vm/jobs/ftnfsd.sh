# SPDX-License-Identifier: GPL-2.0-or-later
# The workloads of workloads.sh on an ftnfsd in this machine: one client, then two at once.  Run by
# vm/ftnfsd.sh; all traffic goes to one capture.
. /out/parameters
tools=/tools

run() { # in the file system that tools.sh made
    chroot "$tools" /usr/bin/env SEED="$SEED" FILES="$FILES" "$@"
}

mount_tools() {
    mkdir -p "$tools"
    mount -o ro /dev/vdb "$tools"
    for folder in mnt tmp run; do
        mount -t tmpfs tmpfs "$tools/$folder"
    done
    for folder in proc dev; do
        mount --bind "/$folder" "$tools/$folder"
    done
}

mount_from() { # N OPTIONS
    mkdir -p "$tools/mnt/c$1"
    in_client "$1" mount.nfs 10.99.0.1:/srv "$tools/mnt/c$1" -o \
        "vers=3,nolock,proto=$PROTO,port=2049,mountproto=$PROTO,mountport=2049,$2"
}

ctl() {
    run ftnfsd ctl /run/ftnfsd.sock "$@"
}

# What ftnfsd holds
tell() {
    ctl exports
    grep -E 'VmRSS|VmHWM' "/proc/$server/status" | tr -s '\t\n' ' '
    echo
}

failed=0
try() { # WORKLOAD CLIENT-FOLDER...
    local before=${EPOCHREALTIME/./}
    if run workloads.sh "$@"; then
        say "$1: works; $(((${EPOCHREALTIME/./} - before) / 1000)) ms" | tee /dev/console
    else
        say "$1: FAILED" | tee /dev/console
        failed=1
    fi
    tell | tee /dev/console
    ctl check || failed=1
}

mount_tools
start_bridge
add_client 1
add_client 2
capture br0 ftnfsd
chroot "$tools" ftnfsd --memory --listen 10.99.0.1 --export '/srv(no_root_squash)' \
    --control /run/ftnfsd.sock >/out/ftnfsd.log 2>&1 &
server=$!
until ctl help >/dev/null 2>&1; do
    sleep 0.1
done

mount_from 1 "$OPTIONS"
grep ' nfs ' /proc/mounts
tell
for workload in $WORKLOADS; do
    [ "$workload" = two ] || try "$workload" /mnt/c1
done
umount "$tools/mnt/c1"
case " $WORKLOADS " in
*' two '*)
    mount_from 1 "$OPTIONS,noac"
    mount_from 2 "$OPTIONS,noac"
    try two /mnt/c1 /mnt/c2
    umount "$tools/mnt/c1" "$tools/mnt/c2"
    ;;
esac

ctl exports | grep -q '"bytes_used":0,"objects":1,' || {
    say "files are left"
    failed=1
}
ctl statistics >/out/statistics.json
ctl connections
ctl stop
wait "$server" || failed=1
cat /out/ftnfsd.log
end_captures
exit $failed
