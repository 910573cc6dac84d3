#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# vm.sh WORK JOB OUTPUT [QEMU-OPTION...]
#
# Boots Debian's cloud kernel in QEMU, runs the script JOB in it (see guest-lib.sh for what it can
# call) and copies what the job left in /out to the folder OUTPUT.  WORK keeps the downloaded kernel
# and the initramfs for the next run.
#
#   NFS_KO=FILE      use this nfs.ko (nfs-udp.sh) in place of Debian's
#   PARAMETERS=FILE  goes to /out/parameters beside the job
#   ACCEL=tcg        or kvm, where it works
#   MEMORY=3072      MiB
#   LIMIT=600        seconds until the machine is ended
#   IMAGE=512M       room in /out
set -eu
. "$(dirname "$0")/../lib.sh"

[ $# -ge 3 ] || die "usage: vm.sh WORK JOB OUTPUT [QEMU-OPTION...]"
[ -f "$2" ] || die "no such job: $2"
as_root_only
need qemu-system-x86_64 apt-get gcc timeout
mkdir -p "$1" "$3"
work=$(cd "$1" && pwd) job=$2 output=$(cd "$3" && pwd)
shift 3

# Downloads and unpacks, without installing, the kernel and the tools that the guest or we need.
fetch() {
    local kernel package
    [ ! -e "$work/tree/complete" ] || return 0
    kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends:/ { print $2; exit }')
    [ -n "$kernel" ] || die "apt knows no linux-image-cloud-amd64: run apt-get update"
    mkdir -p "$work/packages" "$work/tree"
    (cd "$work/packages" &&
        apt-get download -q "$kernel" busybox-static cpio kmod e2fsprogs ethtool)
    for package in "$work"/packages/*.deb; do
        dpkg -x "$package" "$work/tree"
    done
    ln -sf ../bin/kmod "$work/tree/sbin/depmod"
    ln -sf ../bin/kmod "$work/tree/sbin/modprobe"
    touch "$work/tree/complete"
}

fetch
kernel=$(basename "$work"/tree/boot/vmlinuz-*)
kernel=${kernel#vmlinuz-}

[ -x "$work/nfs3all" ] || build_client nfs3all "$work"
[ -x "$work/smallfiles" ] || ${CC:-gcc} -O2 -Wall -Wextra -o "$work/smallfiles" "$lab/smallfiles.c"
# something real to unpack over NFS
tar -C / -cf "$work/files.tar" --sort=name usr/include/linux

"$lab/vm/initramfs.sh" "$work" "$kernel" "${NFS_KO-}"

image=$(mktemp "$work/image.XXXXXX")
staging=$(mktemp -d "$work/staging.XXXXXX")
trap 'rm -rf "$image" "$staging"' EXIT
cp "$job" "$staging/job.sh"
[ -z "${PARAMETERS-}" ] || cp "$PARAMETERS" "$staging/parameters"
"$work/tree/sbin/mke2fs" -q -t ext4 -O ^has_journal -d "$staging" "$image" "${IMAGE:-512M}"

[ $# -gt 0 ] || set -- -nic none
timeout "${LIMIT:-600}" qemu-system-x86_64 -accel "${ACCEL:-tcg}" -cpu max \
    -m "${MEMORY:-3072}" -smp 2 -nographic -no-reboot \
    -kernel "$work/tree/boot/vmlinuz-$kernel" -initrd "$work/initramfs.gz" \
    -append "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on" \
    -drive "file=$image,if=virtio,format=raw,cache=unsafe" "$@" \
    </dev/null >"$output/console.log" 2>&1 || die "the machine failed: see $output/console.log"
"$work/tree/sbin/debugfs" -R "rdump / $output" "$image" 2>/dev/null
rm -rf "$output/lost+found"
grep -aq 'job: 0' "$output/console.log" || die "the job failed: see $output/job.log"
ls -l "$output"
