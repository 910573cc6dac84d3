#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# all22.sh vfs|mem OUTPUT.pcap
#
# Runs all 22 procedures of NFSv3 and many of their errors, from libnfs to Ganesha, and captures them on the
# loopback interface.  Makes captures/vfs-libnfs-all22 and mem-libnfs-all22; takes seconds.
set -u
. "$(dirname "$0")/lib.sh"

if [ "${1-}" = --inside ]; then
    capture_start lo "$SCRATCH/all22.pcap"
    "$SCRATCH/nfs3all" 127.0.0.1 "$EXPORT" || die "nfs3all failed"
    capture_stop
    exit
fi

[ $# -eq 2 ] || die "usage: all22.sh vfs|mem OUTPUT.pcap"
as_root_only
need gcc tcpdump
SCRATCH=$(mktemp -d)
export SCRATCH
trap 'rm -rf "$SCRATCH"' EXIT
build_client nfs3all "$SCRATCH"
"$lab/ganesha.sh" "$1" "$lab/all22.sh" --inside && mv "$SCRATCH/all22.pcap" "$2"
