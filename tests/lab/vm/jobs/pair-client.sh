# SPDX-License-Identifier: GPL-2.0-or-later
# The client of pair.sh: the same calls to whichever server /out/parameters names
. /out/parameters
ip addr add 10.99.0.11/24 dev eth0
ip link set eth0 up
sleep 1
mkdir -p /mnt/c1
for _ in 1 2 3 4 5; do
    mount.nfs "$SERVER:$EXPORT" /mnt/c1 -o "vers=3,nolock,proto=$PROTO" && break
    sleep 1
done
grep ' nfs ' /proc/mounts || exit 1
workload /mnt/c1/w
smallfiles /mnt/c1/pm 150 300 7
umount /mnt/c1
nfs3all "$SERVER" "$EXPORT" >/out/all22.log
