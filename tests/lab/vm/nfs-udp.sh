#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# nfs-udp.sh WORK
#
# Makes WORK/nfs.ko: Debian's kernel refuses NFS over UDP at mount time, so this builds that one
# module of its source again with UDP allowed.  WORK is that of vm.sh, which must have run once.
# The kernel's build files are used from a private view of /usr: nothing is installed.
set -eu
. "$(dirname "$0")/../lib.sh"

[ $# -eq 1 ] && [ -e "$1/tree/complete" ] || die "usage: nfs-udp.sh WORK (after vm.sh WORK ...)"
as_root_only
need apt-get make gcc unshare xz
work=$(cd "$1" && pwd)
kernel=$(basename "$work"/tree/boot/vmlinuz-*)
kernel=${kernel#vmlinuz-}
series=$(cut -d. -f1,2 <<<"$kernel")
build=$work/module

mkdir -p "$build/packages" "$build/headers" "$build/source"
(cd "$build/packages" &&
    apt-get download -q "linux-headers-$kernel" "linux-headers-${kernel%-cloud-amd64}-common" \
        "linux-kbuild-$series" "linux-source-$series")
for package in "$build"/packages/linux-[hk]*.deb; do
    dpkg -x "$package" "$build/headers"
done
dpkg -x "$build"/packages/linux-source-*.deb "$build/source"
tar -C "$build/source" -xf "$build/source/usr/src/linux-source-$series.tar.xz" \
    "linux-source-$series/fs/nfs" "linux-source-$series/fs/nfs_common"

# the option's two uses: read it as unset in both
module=$build/source/linux-source-$series/fs/nfs
sed -i 's/CONFIG_NFS_DISABLE_UDP_SUPPORT/NFSDIGEST_NEVER_DEFINED/' \
    "$module/fs_context.c" "$module/client.c"

export build kernel module
unshare --mount bash -c '
    set -e
    mount --make-rprivate /
    for folder in usr/src usr/lib; do
        mkdir -p "$build/overlay/$folder"
        mount -t overlay overlay -o \
            "lowerdir=/$folder,upperdir=$build/headers/$folder,workdir=$build/overlay/$folder" \
            "/$folder"
    done
    make -j "$(nproc)" -C "/usr/src/linux-headers-$kernel" M="$module" \
        CONFIG_NFS_V2= CONFIG_NFS_V3= CONFIG_NFS_V4= modules'
strip -g "$module/nfs.ko"
cp "$module/nfs.ko" "$work/nfs.ko"
rm -rf "$build"
echo "NFS_KO=$work/nfs.ko"
