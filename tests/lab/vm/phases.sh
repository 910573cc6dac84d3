#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# phases.sh BUILD WORK OUTPUT [SCALE]
#
# Runs the three workloads of phases.py on three systems in a virtual machine, whose servers store in memory:
# knfsd and BUILD's ftnfsd, mounted by a Linux client with the option sync, and sshfs with sshfs_sync.
# Prints the time of each phase side by side: by the client's clock on all three, and by the traffic on the
# NFS mounts.  sshfs has no NFS traffic.  Then it compares the two NFS servers (nfsdigest compare --by phase).
# It ends with 0 if the traffic of both NFS mounts has all phases, and each lasts as long as by the client's
# clock, and at most as long as two marks take longer.
#
# SCALE divides the work (100).  WORK is that of vm.sh, which must have run once.
set -eu
. "$(dirname "$0")/../lib.sh"

[ $# -ge 3 ] && [ -x "$1/bin/nfsdigest" ] || die "usage: phases.sh BUILD WORK OUTPUT [SCALE]"
need sshfs sshd python3
build=$(cd "$1" && pwd) scale=${4:-100}
mkdir -p "$3"
work=$(cd "$2" && pwd) output=$(cd "$3" && pwd)
gen=$lab/../gen

PACKAGES='openssh-client openssh-server python3 sshfs' "$lab/vm/tools.sh" "$work" \
    "$build/bin/nfsdigest" "$build/bin/ftnfsd" "$lab/phases.py" \
    "$gen/lab_workloads.py" "$gen/messages.py" "$gen/model_xdr.py"
rm -f "$output"/*.pcap "$output"/{knfsd,ftnfsd,sshfs}
echo "SCALE=$scale" >"$output/wanted"
PARAMETERS=$output/wanted IMAGE=${IMAGE:-4G} LIMIT=${LIMIT:-1800} \
    "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/phases.sh" "$output" \
    -nic none -drive "file=$work/tools.img,if=virtio,format=raw,readonly=on"
for server in knfsd ftnfsd; do
    "$build/bin/nfsdigest" record --rpc-port 2050 -o "$output/$server.nfsr" "$output/$server.pcap"
    "$build/bin/nfsdigest" info --json --top 100 --by phase "$output/$server.nfsr" >"$output/$server.json"
done
status=0
"$lab/vm/phases_table.py" "$output" || status=$?
"$build/bin/nfsdigest" compare --by phase "$output/knfsd.nfsr" "$output/ftnfsd.nfsr" \
    >"$output/compare.txt" || [ $? -eq 1 ]
cat "$output/compare.txt"
exit "$status"
