# SPDX-License-Identifier: GPL-2.0-or-later
# The client of tee.sh: works on what /out/parameters names, which is a relay
. /out/parameters
tools=/tools
mount_tools() {
    mkdir -p "$tools"
    mount -o ro /dev/vdb "$tools"
    for folder in mnt tmp run; do
        mount -t tmpfs tmpfs "$tools/$folder"
    done
    for folder in proc dev; do
        mount --bind "/$folder" "$tools/$folder"
    done
    mkdir -p "$tools/mnt/c1"
}

failed=0
try() { # NAME COMMAND...
    local before=${EPOCHREALTIME/./} name=$1
    shift
    if "$@"; then
        say "$name: works; $(((${EPOCHREALTIME/./} - before) / 1000)) ms" | tee /dev/console
    else
        say "$name: FAILED" | tee /dev/console
        failed=1
    fi
}

run() { # in the file system that tools.sh made
    chroot "$tools" /usr/bin/env SEED="$SEED" FILES="$FILES" OPERATIONS="$OPERATIONS" "$@"
}

mount_tools
ip addr add 10.99.0.11/24 dev eth0
ip link set eth0 up
sleep 1
for _ in 1 2 3 4 5; do
    mount.nfs "$SERVER:$EXPORT" "$tools/mnt/c1" -o "vers=3,nolock,proto=$PROTO" && break
    sleep 1
done
grep ' nfs ' /proc/mounts || exit 1
for workload in $WORKLOADS; do
    case $workload in
    kinds) try kinds workload "$tools/mnt/c1/w" ;;
    mail) try mail smallfiles "$tools/mnt/c1/pm" 60 150 "$SEED" ;;
    all22) ;;
    two)
        for folder in c2 c3; do
            mkdir "$tools/mnt/$folder"
            mount.nfs "$SERVER:$EXPORT" "$tools/mnt/$folder" \
                -o "vers=3,nolock,proto=$PROTO,noac,nosharecache" || exit 1
        done
        try two run workloads.sh two /mnt/c2 /mnt/c3
        umount "$tools/mnt/c2" "$tools/mnt/c3"
        ;;
    *) try "$workload" run workloads.sh "$workload" /mnt/c1 ;;
    esac
done
umount "$tools/mnt/c1"
case " $WORKLOADS " in
*' all22 '*) try all22 nfs3all "$SERVER" "$EXPORT" >/out/all22.log ;;
esac
exit $failed
