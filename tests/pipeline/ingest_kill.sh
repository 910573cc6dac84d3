#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
#
# An ingest that is killed at random moments, again and again, and then run to its end gives the same
# database as one that was never disturbed: dumps are compared byte by byte.
set -eu
. "$(dirname "$0")/store_lib.sh"

rounds=${ROUNDS:-12}
seed=${SEED:-$(date +%s)}
echo "seed $seed"

# Milliseconds of a command.
took() {
    start=$(date +%s%N)
    "$@"
    echo $((($(date +%s%N) - start) / 1000000))
}

random() { # random MAX ROUND
    awk -v max="$1" -v seed="$seed$2" 'BEGIN { srand(seed); printf "%.3f", rand() * max / 1000 }'
}

# rounds_of NAME FILE...
rounds_of() {
    name=$1
    shift
    all=$(took "$NFSDIGEST" ingest -q -o "$scratch/$name.db" "$@")
    sql "$scratch/$name.db" .dump >"$scratch/$name.sql"
    kills=0 round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        db=$scratch/killed.db
        rm -f "$db" "$db-journal"
        for attempt in 1 2 3; do
            got=0
            timeout -s KILL "$(random $((all + all / 5)) "$round$attempt")" \
                "$NFSDIGEST" ingest -q -o "$db" "$@" 2>"$scratch/said" || got=$?
            case $got in
                0) # too late: the machine was busier when this was measured
                    [ "$attempt" -gt 1 ] || [ "$all" -lt 10 ] || all=$((all * 3 / 4))
                    break
                    ;;
                137) kills=$((kills + 1)) ;;
                *) bad "$name, round $round: exit code $got: $(cat "$scratch/said")" ;;
            esac
            # what is there is whole: nothing, or some of the sources
            if [ -s "$db" ]; then
                cp "$db" "$scratch/copy.db"
                [ ! -f "$db-journal" ] || cp "$db-journal" "$scratch/copy.db-journal"
                tables=$(sqlite3 "$scratch/copy.db" 'SELECT count(*) FROM sqlite_schema')
                [ "$tables" -eq 0 ] || expect "$name, round $round, left behind" 0 'nothing wrong' \
                    "$NFSDIGEST" check "$scratch/copy.db"
                rm -f "$scratch/copy.db" "$scratch/copy.db-journal"
            fi
        done
        "$NFSDIGEST" ingest -q -o "$db" "$@" || bad "$name, round $round: the last ingest"
        sql "$db" .dump >"$scratch/killed.sql"
        if cmp -s "$scratch/killed.sql" "$scratch/$name.sql"; then
            ok
        else
            bad "$name, round $round: $(diff "$scratch/$name.sql" "$scratch/killed.sql" | head -3 |
                cut -c1-200)"
        fi
    done
    echo "$name: $rounds rounds, $kills kills"
    [ $((kills * 2)) -ge "$rounds" ] || bad "$name: only $kills kills: the test shows nothing"
}

whole=$(capture knfsd-tcp-mtu1500)
editcap -F pcap -c 6000 "$whole" "$scratch/piece.pcap"
rounds_of captures "$scratch"/piece_*.pcap
for piece in "$scratch"/piece_*.pcap; do
    "$NFSDIGEST" record -o "${piece%.pcap}.nfsr" "$piece"
done
rounds_of streams "$scratch"/piece_*.nfsr
"$NFSDIGEST" record -o "$scratch/whole.nfsr" "$whole"
rounds_of mixed "$scratch/whole.nfsr" "$(capture knfsd-netem-udp)" "$(capture vfs-libnfs-all22)"

finish
