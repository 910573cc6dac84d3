#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# ftnfsd.sh BUILD WORK OUTPUT [tcp|udp [WORKLOAD...]]
#
# Runs the workloads of workloads.sh on BUILD's ftnfsd by Linux clients in a virtual machine: by one,
# and "two" by two at once.  It ends with 0 if
#   - every workload found what must be,
#   - ftnfsd's check finds its file system whole after each,
#   - tshark sees no error, malformed packets among them, in the capture of all,
#   - nfsdigest reads that capture without a problem, and counts the calls that ftnfsd counted.
# WORK is that of vm.sh, which must have run once; udp needs NFS_KO.  SEED=1 is that of random I/O,
# FILES=50000 how many files "many" makes, OPTIONS=hard mounts.
set -eu
. "$(dirname "$0")/../lib.sh"

[ $# -ge 3 ] && [ -x "$1/bin/ftnfsd" ] ||
    die "usage: ftnfsd.sh BUILD WORK OUTPUT [tcp|udp [WORKLOAD...]]"
need tshark python3
build=$(cd "$1" && pwd) proto=${4:-tcp}
mkdir -p "$3"
work=$(cd "$2" && pwd) output=$(cd "$3" && pwd)
shift "$(($# < 4 ? $# : 4))"
[ $# -gt 0 ] || set -- git tree compile random many two

"$lab/vm/tools.sh" "$work" "$build/bin/ftnfsd"
rm -f "$output"/*.pcap "$output"/*.db "$output/statistics.json"
printf 'PROTO=%s\nOPTIONS=%s\nSEED=%s\nFILES=%s\nWORKLOADS="%s"\n' \
    "$proto" "${OPTIONS:-hard}" "${SEED:-1}" "${FILES:-50000}" "$*" >"$output/wanted"
status=0
PARAMETERS=$output/wanted IMAGE=${IMAGE:-4G} LIMIT=${LIMIT:-3000} \
    "$lab/vm/vm.sh" "$work" "$lab/vm/jobs/ftnfsd.sh" "$output" \
    -nic none -drive "file=$work/tools.img,if=virtio,format=raw,readonly=on" || status=1
grep -v '^ ' "$output/job.log"
grep -q '^0 packets dropped by kernel' "$output/ftnfsd.pcap.log" || die "the capture is incomplete"

# tshark 4.0 calls it an error when TCP sends the end of a message again.  Without -d, it takes a call
# over UDP for RTCP when its XID looks like that.
tshark -r "$output/ftnfsd.pcap" -d udp.port==2049,rpc \
    -Y '(_ws.malformed || _ws.expert.severity >= 8388608) && !(tcp.analysis.flags &&
        _ws.expert.message contains "New fragment overlaps old data (retransmission?)")' \
    2>"$output/tshark.log" >"$output/tshark" || die "tshark: $(tail -n 1 "$output/tshark.log")"
if [ -s "$output/tshark" ]; then
    echo "tshark sees errors:"
    head -n 20 "$output/tshark"
    status=1
fi
"$build/bin/nfsdigest" ingest "$output/ftnfsd.pcap" -o "$output/ftnfsd.db"
"$build/bin/nfsdigest" info --json --top 100 "$output/ftnfsd.db" >"$output/info.json"
"$lab/vm/same_counts.py" "$output/info.json" "$output/statistics.json" || status=1
exit $status
