#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# load.sh vfs|mem OUTPUT.pcap
#
# Sends 900 calls of nfs3load to Ganesha, over two connections with three calls at a time, and captures them
# on the loopback interface.  Makes captures/load-*; takes seconds.
set -u
. "$(dirname "$0")/lib.sh"

if [ "${1-}" = --inside ]; then
    capture_start lo "$SCRATCH/load.pcap"
    timeout 30 "$SCRATCH/nfs3load" 127.0.0.1 "$EXPORT" 2 3 900 small || die "nfs3load failed"
    capture_stop
    exit
fi

[ $# -eq 2 ] || die "usage: load.sh vfs|mem OUTPUT.pcap"
as_root_only
need gcc tcpdump
SCRATCH=$(mktemp -d)
export SCRATCH
trap 'rm -rf "$SCRATCH"' EXIT
build_client nfs3load "$SCRATCH"
"$lab/ganesha.sh" "$1" "$lab/load.sh" --inside && mv "$SCRATCH/load.pcap" "$2"
