#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls and replies of NFSv3 (program 100003, version 3, retransmissions included) found in the real
# captures, against what is known of them. ">=": at least; "-": nothing is known.  18 calls of
# knfsd-netem-udp lost a fragment and are partial.
set -eu

: "${NFSDIGEST:?the program to test}" "${CAPTURES:?the directory of captures}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

table='
knfsd-tcp-mtu1500    7347    7347
knfsd-udp-frag       7502    7502
knfsd-netem-tcp      1192    1192
knfsd-netem-udp      1013    993
vfs-libnfs-all22     200     200
mem-libnfs-all22     200     200
knfsd-vlan           7265    7265
knfsd-nlm-locks      43      43
pair-knfsd           8640    8640
pair-ganesha-vfs     8704    8704
load-ganesha-vfs     911     911
load-ganesha-vfs-again 911   911
load-ganesha-mem     911     911
knfsd-snap256        >=7717  -
'

sightings='SELECT count(*) FROM
    (SELECT id FROM operation WHERE program = 100003 AND version = 3 AND SIDE_frame IS NOT NULL
     UNION ALL SELECT r.operation FROM retransmission r JOIN operation o ON o.id = r.operation
     WHERE r.kind = KIND AND o.program = 100003 AND o.version = 3
     UNION ALL SELECT c.operation FROM copy c JOIN operation o ON o.id = c.operation
     WHERE c.kind = KIND + 2 AND o.program = 100003 AND o.version = 3)'

# fits FOUND EXPECTED
fits() {
    case $2 in
        -) ;;
        '>='*) [ "$1" -ge "${2#>=}" ] ;;
        *) [ "$1" -eq "$2" ] ;;
    esac
}

failed=0 tried=0
while read -r name calls replies; do
    [ -n "$name" ] || continue
    capture=
    for path in "$CAPTURES/$name".pcap* "$CAPTURES/$name".pcapng*; do
        [ -f "$path" ] && capture=$path
    done
    tried=$((tried + 1))
    if [ -z "$capture" ]; then
        echo "FAILED $name: not in $CAPTURES"
        failed=$((failed + 1))
        continue
    fi
    rm -f "$scratch/db"
    if ! "$NFSDIGEST" ingest -o "$scratch/db" "$capture" >"$scratch/log" 2>&1; then
        echo "FAILED $name: $(cat "$scratch/log")"
        failed=$((failed + 1))
        continue
    fi
    have_calls=$(sqlite3 "$scratch/db" "$(echo "$sightings" | sed 's/SIDE/call/; s/KIND/1/')")
    have_replies=$(sqlite3 "$scratch/db" "$(echo "$sightings" | sed 's/SIDE/reply/; s/KIND/2/')")
    if fits "$have_calls" "$calls" && fits "$have_replies" "$replies"; then
        verdict=ok
    else
        verdict=FAILED
        failed=$((failed + 1))
    fi
    echo "$verdict $name: $have_calls calls ($calls), $have_replies replies ($replies)"
done <<END
$table
END
echo "$tried captures, $failed failed"
[ "$failed" -eq 0 ] && [ "$tried" -ge 11 ]
