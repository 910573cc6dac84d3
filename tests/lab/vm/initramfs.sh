#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# initramfs.sh WORK KERNEL-VERSION [NFS.KO]: called by vm.sh
#
# Makes WORK/initramfs.gz of this machine's own programs with the libraries they need, and of the
# modules of the kernel unpacked in WORK/tree.
set -eu
. "$(dirname "$0")/../lib.sh"

work=$1 kernel=$2 nfs_ko=${3-}
root=$(mktemp -d "$work/initramfs.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root" # rpcbind, as a user of its own, refuses calls when it cannot look into /etc

programs='awk basename bash cat chgrp chmod chown chroot cmp cp cut dash date dd df du expr false find
    flock fio grep gzip head id ip ln ls md5sum mkdir mkfifo mknod mount mv nsenter readlink rm rmdir sed
    seq setpriv sleep sort stat sync tail tar tc tcpdump tee timeout touch tr true truncate umount
    unshare wc xargs
    exportfs mount.nfs rpc.mountd rpc.nfsd rpc.statd rpcbind rpcinfo showmount sm-notify umount.nfs'
modules='virtio_pci virtio_blk virtio_net virtio_rng ext4 sunrpc nfsd nfs nfsv3 nfsv4 lockd veth
    bridge sch_netem af_packet 8021q dummy fuse'

# with_libraries PROGRAM TARGET
with_libraries() {
    local library
    mkdir -p "$root/$(dirname "$2")"
    cp -L "$1" "$root/$2"
    for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
        if [ ! -e "$root/$library" ]; then
            mkdir -p "$root/$(dirname "$library")"
            cp -L "$library" "$root/$library"
        fi
    done
}

mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,proc,sys,dev,run,tmp,var/lib/nfs,srv,mnt,out,root}
mkdir -p "$root/lib/modules"
for program in $programs; do
    path=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin type -P "$program") ||
        die "$program is not installed (packages: see $lab/README.md)"
    with_libraries "$path" "usr/bin/$program"
done
for program in "$work/nfs3all" "$work/smallfiles" "$work/tree/sbin/ethtool"; do
    with_libraries "$program" "usr/bin/$(basename "$program")"
done
# loaded by name at run time, so ldd does not know of them
for library in libnss_files.so.2 libgcc_s.so.1; do
    for folder in /lib/*-linux-gnu; do
        [ -e "$folder/$library" ] || continue
        mkdir -p "$root$folder"
        cp -L "$folder/$library" "$root$folder/"
    done
done
ln -s /usr/bin/bash "$root/bin/bash"
ln -s /usr/bin/dash "$root/bin/sh"
for program in mount.nfs umount.nfs rpc.statd; do # called by absolute path
    ln -s "/usr/bin/$program" "$root/sbin/$program"
done
ln -s /usr/bin/sm-notify "$root/usr/sbin/sm-notify"
cp "$work/tree/bin/busybox" "$root/bin/busybox"
for applet in insmod kill poweroff; do
    ln -s /bin/busybox "$root/sbin/$applet"
done

cp /etc/netconfig /etc/rpc /etc/services /etc/protocols "$root/etc/"
cat >"$root/etc/passwd" <<'PASSWD'
root:x:0:0:root:/root:/bin/bash
_rpc:x:101:65534::/run/rpcbind:/bin/sh
statd:x:102:65534::/var/lib/nfs:/bin/sh
nobody:x:65534:65534::/:/bin/sh
PASSWD
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
printf '%s: files\n' passwd group hosts services protocols rpc >"$root/etc/nsswitch.conf"
printf '127.0.0.1 localhost\n10.99.0.1 server\n' >"$root/etc/hosts"
touch "$root/etc/exports" "$root/etc/fstab"

# modules in the order in which they can be inserted
"$work/tree/sbin/depmod" -b "$work/tree" "$kernel"
for module in $modules; do
    "$work/tree/sbin/modprobe" -d "$work/tree" -S "$kernel" --show-depends "$module" 2>/dev/null || :
done | awk '/^insmod/ && !seen[$2]++ { print $2 }' | while read -r file; do
    cp "$file" "$root/lib/modules/"
    basename "$file"
done >"$root/modules"
[ -z "$nfs_ko" ] || cp "$nfs_ko" "$root/lib/modules/nfs.ko"

cp "$lab/vm/guest-init" "$root/init"
cp "$lab/vm/guest-lib.sh" "$work/files.tar" "$root/"
(cd "$root" && find . | "$work/tree/bin/cpio" -o -H newc --quiet) | gzip -1 >"$work/initramfs.gz"
