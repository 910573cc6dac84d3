#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ganesha.sh vfs|mem COMMAND [ARGUMENT...]
#
# Runs COMMAND beside rpcbind and an NFS-Ganesha server, in network, mount and process namespaces of
# their own: nothing is left when it ends, and it ends after LIMIT seconds (120) at the latest.
# COMMAND finds the server at 127.0.0.1 and its export in $EXPORT; back end vfs serves a folder of
# the file system of SCRATCH (default: a new temporary folder), mem serves memory.  With ON_TMPFS=1, that
# folder is a tmpfs that notes each access.
set -u
. "$(dirname "$0")/lib.sh"

serve() { # COMMAND...: inside the namespaces
    local config=$SCRATCH/ganesha.conf
    mount --make-rprivate /
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /run
    ip link set lo up
    if [ -n "${ON_TMPFS-}" ]; then
        mount -t tmpfs -o strictatime,mode=755 none "$EXPORT"
    fi

    rpcbind -f -w &
    wait_for 10 test -S /run/rpcbind.sock || die "rpcbind does not start"

    sed "s|EXPORT_PATH|$EXPORT|g" "$lab/ganesha-$BACKEND.conf" >"$config"
    ganesha.nfsd -F -L "$SCRATCH/ganesha.log" -f "$config" -p /run/ganesha.pid -N NIV_WARN &
    wait_for 20 nfs-ls "nfs://127.0.0.1$EXPORT?version=3" ||
        die "Ganesha does not serve $EXPORT: $(grep -E ':(CRIT|MAJ) :' "$SCRATCH/ganesha.log")"
    "$@"
}

if [ "${1-}" = --inside ]; then
    shift
    serve "$@"
    exit
fi

[ $# -ge 2 ] || die "usage: ganesha.sh vfs|mem COMMAND [ARGUMENT...]"
case $1 in vfs | mem) BACKEND=$1 ;; *) die "no back end $1: vfs or mem" ;; esac
shift
as_root_only
need unshare ip rpcbind ganesha.nfsd nfs-ls
[ -e /etc/mtab ] || die "Ganesha reads /etc/mtab: ln -s /proc/self/mounts /etc/mtab"
if [ -z "${SCRATCH-}" ]; then
    SCRATCH=$(mktemp -d)
    trap 'rm -rf "$SCRATCH"' EXIT
fi
if [ "$BACKEND" = vfs ]; then
    EXPORT=$(cd "$SCRATCH" && pwd)/export
    mkdir -p "$EXPORT"
else
    EXPORT=/mem
fi
export SCRATCH BACKEND EXPORT PATH=$PATH:/usr/sbin:/sbin
timeout "${LIMIT:-120}" unshare --net --mount --pid --fork --kill-child "$lab/ganesha.sh" --inside "$@"
