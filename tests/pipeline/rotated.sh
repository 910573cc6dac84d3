#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
#
# A capture cut into pieces loses no pair: ingested by one command, by one command for each piece, and as
# one record, it gives what the whole gives; as records made one by one, all pairs whose messages
# were recorded.  And: both doors give the same database.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"

# Everything that a database says, with frames counted over all sources.
contents() {
    sql "$1" "
    SELECT o.id, o.pairing, o.call_frame + c.frame_base, o.call_first_frame + c.frame_base,
        o.call_time, o.call_length, o.call_flags, o.reply_frame + r.frame_base,
        o.reply_first_frame + r.frame_base, o.reply_time, o.reply_length, o.reply_flags, o.client,
        o.server, o.flow, o.xid, o.program, o.version, o.procedure, o.rpc_status, o.status,
        o.credential, o.object, o.object2, o.new_object, o.path, o.path2, o.depends_on, o.offset,
        o.count, o.data_length, hex(o.data_digest), hex(o.arguments), hex(o.result)
      FROM operation o LEFT JOIN source c ON c.id = o.call_source
      LEFT JOIN source r ON r.id = o.reply_source ORDER BY o.id;
    SELECT 'retransmission', m.id, m.operation, m.kind, m.differs, m.flow, m.frame + s.frame_base,
        m.first_frame + s.frame_base, m.time, m.length, m.flags
      FROM retransmission m JOIN source s ON s.id = m.source ORDER BY m.id;
    SELECT 'copy', m.id, m.operation, m.kind, m.flow, m.frame + s.frame_base,
        m.first_frame + s.frame_base, m.time, m.length, m.flags
      FROM copy m JOIN source s ON s.id = m.source ORDER BY m.id;
    SELECT 'problem', p.id, p.kind, p.frame + s.frame_base, p.time, p.flow, p.direction, p.xid,
        p.length, p.text FROM problem p JOIN source s ON s.id = p.source ORDER BY p.id;
    SELECT 'flow', f.id, f.transport, f.client, f.client_port, f.server, f.server_port,
        f.frame + s.frame_base, f.time FROM flow f JOIN source s ON s.id = f.source ORDER BY f.id;
    SELECT 'object', x.id, x.server, hex(x.handle), x.type, x.fsid, x.fileid, x.time,
        x.frame + s.frame_base FROM object x JOIN source s ON s.id = x.source ORDER BY x.id;
    SELECT 'credential', * FROM credential ORDER BY id;
    SELECT 'path', * FROM path ORDER BY id;
    SELECT 'name_event', * FROM name_event ORDER BY id;
    SELECT 'sum', sum(frames), sum(operations), sum(calls), sum(replies), sum(retransmissions),
        sum(copies), sum(problems), min(first_time), max(last_time) FROM source;"
}

same() { # NAME FILE FILE
    if cmp -s "$2" "$3"; then
        ok
    else
        bad "$1: $(diff "$2" "$3" | head -4 | cut -c1-300)"
    fi
}

pairs="SELECT client, xid, program, version, procedure, call_time, reply_time FROM operation
       WHERE pairing = 0 AND (ifnull(call_flags, 0) | ifnull(reply_flags, 0)) & 1 = 0 ORDER BY 1, 2, 6"

# the first capture of the table with every 97th frame missing
editcap -F pcap "$(capture knfsd-tcp-mtu1500)" lossy.pcap $(seq 97 97 26000)

# a case: capture, packets in a piece, pairs that records made one by one may lack: replies whose fragments
# or headers lie in two files, and messages at a join whose other half is in another file, so that nothing
# tells whether they are any
while read -r name packets lack; do
    rm -f piece_* ./*.db ./*.nfsr
    whole=$name.pcap
    [ -f "$whole" ] || capture "$name" >/dev/null
    editcap -F pcap -c "$packets" "$whole" piece.pcap
    pieces=$(ls piece_*.pcap | wc -l)
    [ "$pieces" -gt 1 ] && ok || bad "$name: only $pieces pieces"
    "$n" ingest -q -o whole.db "$whole"
    contents whole.db >whole.txt
    [ "$(wc -l <whole.txt)" -gt 100 ] && ok || bad "$name: nothing to compare"

    "$n" record -o whole.nfsr "$whole"
    "$n" ingest -q -o door.db whole.nfsr
    contents door.db >found.txt
    same "$name: the other door" whole.txt found.txt
    is "$name: the other door's counters" "$(sql door.db 'SELECT * FROM counter')" \
        "$(sql whole.db 'SELECT * FROM counter')"

    "$n" ingest -q -o one.db piece_*.pcap
    contents one.db >found.txt
    same "$name: $pieces pieces, one command" whole.txt found.txt

    for piece in piece_*.pcap; do
        "$n" ingest -q -o many.db "$piece"
    done
    contents many.db >found.txt
    same "$name: $pieces pieces, as many commands" whole.txt found.txt
    is "$name: one command or many" "$(sql one.db .dump | cmp - <(sql many.db .dump))" ""
    expect "$name: check" 0 'nothing wrong' "$n" check one.db many.db door.db

    # a piece may come through a pipe
    for piece in piece_*.pcap; do
        cat "$piece" | "$n" ingest -q -o pipe.db -
    done
    contents pipe.db >found.txt
    same "$name: through pipes" whole.txt found.txt

    "$n" record -o joined.nfsr piece_*.pcap
    same "$name: one record of all pieces" whole.nfsr joined.nfsr

    for piece in piece_*.pcap; do
        "$n" record -o "${piece%.pcap}.nfsr" "$piece"
    done
    "$n" ingest -q -o records.db piece_*.nfsr
    expect "$name: check of records" 0 'nothing wrong' "$n" check records.db
    paired=$(sql whole.db 'SELECT count(*) FROM operation WHERE pairing = 0')
    found=$(sql records.db 'SELECT count(*) FROM operation WHERE pairing = 0')
    [ "$found" -ge $((paired - lack)) ] && [ "$found" -le "$paired" ] && ok ||
        bad "$name: records of $pieces pieces: $found pairs of $paired"
    is "$name: no pair is invented" "$(comm -13 <(sql whole.db "$pairs" | sort) \
        <(sql records.db "$pairs" | sort) | head -3)" ""
    for piece in piece_*.nfsr; do
        "$n" ingest -q -o records2.db "$piece"
    done
    is "$name: records, one command or many" "$(sql records.db .dump | cmp - <(sql records2.db .dump))" ""
    echo "$name, $pieces pieces: $found of $paired pairs from single records"
done <<'T'
knfsd-tcp-mtu1500          6000  0
knfsd-tcp-mtu1500          700   8
lossy                      5000  5
knfsd-netem-tcp            450   1
knfsd-netem-udp            100   10
knfsd-udp-frag             3000  2
knfsd-snap256              2500  2
knfsd-nlm-locks            20    1
vfs-libnfs-all22           37    0
T

# records and captures by turns: what a record knows of the tree is used by the capture that follows
rm -f piece_* mixed.db
editcap -F pcap -c 5000 "$(capture knfsd-vlan)" piece.pcap
i=0
for piece in piece_*.pcap; do
    i=$((i + 1))
    if [ $((i % 2)) -eq 1 ]; then
        "$n" record -o "${piece%.pcap}.nfsr" "$piece"
        piece=${piece%.pcap}.nfsr
    fi
    "$n" ingest -q -o mixed.db "$piece"
done
[ $i -gt 3 ] && ok || bad "mixed: only $i pieces"
expect "mixed: check" 0 'nothing wrong' "$n" check mixed.db
"$n" ingest -q -o vlan.db knfsd-vlan.pcap
is "mixed: objects" "$(sql mixed.db 'SELECT count(*) FROM object')" \
    "$(sql vlan.db 'SELECT count(*) FROM object')"
# one reply at a join is not paired: see above
is "mixed: pairs" "$(sql mixed.db 'SELECT count(*) FROM operation WHERE pairing = 0')" \
    "$(sql vlan.db 'SELECT count(*) - 1 FROM operation WHERE pairing = 0')"
is "mixed: no path is partial" "$(sql mixed.db "SELECT count(*) FROM path WHERE text LIKE '[#%'")" \
    "$(sql vlan.db "SELECT count(*) FROM path WHERE text LIKE '[#%'")"

finish
