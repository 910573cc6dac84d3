#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
#
# Input that cannot be used, or not all of it: exit code 3, a message with file and offset, everything
# before kept and marked.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"
whole=$(capture vfs-libnfs-all22)
"$n" record -o good.nfsr "$whole"
"$n" ingest -q -o good.db "$whole"
operations=$(sql good.db 'SELECT count(*) FROM operation')
size=$(stat -c %s "$whole")
frames=$(sql good.db 'SELECT frames FROM source')

# begin of the last packet of the pcap, by the lengths in it (little-endian file)
last=$(python3 - "$whole" <<'P'
import struct, sys
data, at, last = open(sys.argv[1], "rb").read(), 24, 0
while at < len(data):
    last = at
    at += 16 + struct.unpack_from("<I", data, at + 8)[0]
print(last)
P
)

nothing_stored() { # NAME DATABASE
    [ ! -e "$2" ] && ok || bad "$1: $2 is there"
}

# --- what is no input at all
: >empty.pcap
head -c 24 "$whole" >header.pcap
echo 'To be, or not to be, that is the question' >text.pcap
head -c 4 "$whole" >magic.pcap
mkdir directory
for command in "ingest -o none.db" "record -o none.nfsr" info; do
    expect "$command: not there" 3 'nowhere\.pcap.*No such file' $n $command nowhere.pcap
    expect "$command: directory" 3 'directory.*directory' $n $command directory
    expect "$command: empty" 3 'empty\.pcap: empty' $n $command empty.pcap
    expect "$command: no capture" 3 'text\.pcap: not a capture.*byte 0' $n $command text.pcap
    expect "$command: only a magic" 3 'magic\.pcap.*byte 0' $n $command magic.pcap
    nothing_stored "$command" none.db
    nothing_stored "$command" none.nfsr
done
# a capture without packets is one, as for tshark; another capture with the same header is no copy of it
for file in header.pcap - header.nfsr; do
    [ "$file" != header.nfsr ] ||
        expect "record: no packets" 0 'header\.pcap: holds no packets' $n record -o header.nfsr header.pcap
    rm -f header.db
    ingest() { "$n" ingest -o header.db "$file" <header.pcap; }
    expect "ingest: no packets: $file" 0 'holds no packets' ingest
    expect "ingest: no packets again: $file" 0 'in the database already, as source 1' ingest
    is "ingest: no packets: $file: one source" \
        "$(sql header.db 'SELECT id, state, frames, operations, first_time FROM source')" '1|complete|0|0|'
    expect "check: no packets: $file" 0 'nothing wrong' $n check header.db
done
rm header.db
expect "ingest --follow: no packets" 0 'holds no packets' $n ingest --follow --idle 1s -o header.db header.pcap
is "ingest --follow: no packets: one source" "$(sql header.db 'SELECT id, state, frames FROM source')" '1|complete|0'
is "ingest --json: no packets" "$("$n" ingest --json -o header2.db header.pcap 2>/dev/null)" \
    '{"file":"header.pcap","state":"empty"}'
expect "ingest behind a capture without packets" 0 - $n ingest -q -o header2.db "$whole"
is "ingest behind a capture without packets: all" "$(sql header2.db 'SELECT count(*) FROM operation')" "$operations"
is "info: no packets" "$("$n" info header.pcap | grep -c '^Operations    0 ')" 1
expect "anonymize: no packets" 0 'header\.pcap: holds no packets' \
    sh -c '"$0" key new header.key && "$0" anonymize -k header.key -o none.pcapng header.pcap' $n
is "info: anonymized, no packets" "$("$n" info none.pcapng | grep -c '^Operations    0 ')" 1
expect "check: empty" 3 'empty\.pcap: empty' $n check empty.pcap
expect "check: no database" 3 'text\.pcap: neither.*byte 0' $n check text.pcap
expect "ops: empty" 3 'empty\.pcap' $n ops empty.pcap
expect "ops: no database" 3 'text\.pcap: not a capture.*byte 0' $n ops text.pcap
"$n" record -o stream.nfsr "$whole" 2>/dev/null
expect "tree --store: a stream" 3 'stream\.nfsr: a record stream, not a trace database' \
    $n tree --store stream.nfsr
sqlite3 other.db 'CREATE TABLE a (b)'
expect "ops: another database" 3 'other\.db: not a trace database' $n ops other.db
expect "ingest into another database" 3 'other\.db: not a trace database' \
    $n ingest -o other.db "$whole"
expect "ingest into a text" 3 'text\.pcap: not a trace database' $n ingest -o text.pcap "$whole"
expect "ingest a database" 2 'good\.db: a database cannot be ingested' $n ingest -o x.db good.db

# --- a capture that is cut in the middle of a packet
for cut in $((last + 5)) $((last + 16)) $((size - 1)); do
    head -c "$cut" "$whole" >cut.pcap
    rm -f cut.db cut.nfsr cut2.db
    where="cut\.pcap: cut in the middle of packet $frames, which begins at byte $last"
    expect "ingest: cut at $cut" 3 "$where" $n ingest -q -o cut.db cut.pcap
    is "ingest: cut at $cut: kept" "$(sql cut.db 'SELECT frames, state FROM source')" \
        "$((frames - 1))|cut"
    expect "check: cut at $cut" 1 "$where" $n check cut.db
    expect "info: cut at $cut" 3 "$where" $n info cut.pcap
    expect "ops: cut at $cut" 3 "$where" $n ops cut.pcap
    expect "compare: cut at $cut" 3 "$where" $n compare cut.db cut.pcap
    for command in "tree" "tree --json" "deps" "deps --list" "concurrency" "rdump --json -o cut.rdump"; do
        expect "$command: cut at $cut" 3 "$where" $n $command cut.pcap
        # shellcheck disable=SC2086 # a command and its options
        is "$command: cut at $cut: what is before" "$($n $command cut.pcap 2>said)" \
            "$($n $command cut.db)"
    done
    expect "record: cut at $cut" 3 "$where" $n record -o cut.nfsr cut.pcap
    expect "check of its record" 0 'nothing wrong' $n check cut.nfsr
    expect "ingest of its record" 3 'cut\.nfsr: the capture.*middle of a packet' \
        $n ingest -q -o cut2.db cut.nfsr
    for table in operation path name_event object; do
        is "cut at $cut: $table" "$(sql cut2.db "SELECT * FROM $table ORDER BY id")" \
            "$(sql cut.db "SELECT * FROM $table ORDER BY id")"
    done
    expect "the cut one again" 0 'in the database already' $n ingest -o cut.db cut.pcap
    expect "the whole after the cut" 3 'begins with the same .* bytes as source 1.*is longer' \
        $n ingest -o cut.db "$whole"
    is "nothing twice" "$(sql cut.db 'SELECT count(*) FROM source')" 1
done
editcap -F pcapng "$whole" whole.pcapng
rm -f cut.db
head -c -7 whole.pcapng >cut.pcapng
expect "ingest: cut pcapng" 3 "cut\.pcapng.*(packet|byte)" $n ingest -q -o cut.db cut.pcapng
is "cut pcapng: kept" "$(sql cut.db 'SELECT frames >= '"$((frames - 1))"', state FROM source')" '1|cut'

# --- damaged and cut compression
for tool in gzip zstd; do
    $tool -qc "$whole" >whole.pcap.$tool
    rm -f cut.db
    head -c $(($(stat -c %s whole.pcap.$tool) * 3 / 4)) whole.pcap.$tool >cut.$tool
    expect "ingest: cut $tool" 3 "cut\.$tool: the $tool data end in the middle, at byte [0-9]+" \
        $n ingest -q -o cut.db cut.$tool
    is "cut $tool: kept" "$(sql cut.db 'SELECT frames > 0, state FROM source')" '1|cut'
    expect "whole $tool" 0 - $n ingest -q -o whole.$tool.db whole.pcap.$tool
    is "whole $tool: the same" "$(sql whole.$tool.db 'SELECT count(*) FROM operation')" "$operations"
    expect "$tool is known" 0 'already, as source 1' $n ingest -o good.db whole.pcap.$tool
done

# --- the same of those that libarchive takes off, which may keep the last block to themselves
long=$(capture knfsd-tcp-mtu1500)
"$n" record -o long.nfsr "$long"
for tool in xz lz4 bzip2; do
    $tool -1 -c <"$long" >long.$tool
    expect "whole $tool" 0 - $n record -o whole.nfsr long.$tool
    cmp long.nfsr whole.nfsr && ok || bad "$tool: another record stream"
    $n record - <long.$tool | cmp long.nfsr - && ok || bad "$tool in a pipe: another record stream"
    head -c $(($(stat -c %s long.$tool) * 3 / 4)) long.$tool >cut.$tool
    rm -f cut.db
    expect "ingest: cut $tool" 3 "cut\.$tool: the $tool data (end in the middle or )?are damaged,? at byte [0-9]+" \
        $n ingest -q -o cut.db cut.$tool
    is "cut $tool: kept" "$(sql cut.db 'SELECT frames > 5000, state FROM source')" '1|cut'
    $tool -c </dev/null >empty.$tool
    expect "ingest: empty $tool" 3 "empty\.$tool: empty" $n ingest -q -o empty.db empty.$tool
done

# --- captures of other formats: who reads them
while IFS='|' read -r name magic; do
    printf "$magic" >other.cap
    expect "record: $name" 3 "other\.cap: a capture of the format $name, which tshark reads" \
        $n record -o no.nfsr other.cap
done <<'T'
snoop|snoop\0\0\0\0\0\0\2\0\0\0\4
Network Monitor|GMBU\0\2
Sniffer|TRSNIFF data    \032
iptrace|iptrace 2.0
T
expect "record: no format at all" 3 'captures of other formats go through tshark' \
    $n record -o no.nfsr text.pcap

# --- a record that is cut, damaged, of a later version
size=$(stat -c %s good.nfsr)
for cut in 20 $((size / 2)) $((size - 1)); do
    head -c "$cut" good.nfsr >cut.nfsr
    rm -f cut.db
    expect "check: cut record at $cut" 3 "cut\.nfsr: truncated at offset $cut" $n check cut.nfsr
    expect "ingest: cut record at $cut" 3 "cut\.nfsr: truncated at offset $cut" \
        $n ingest -q -o cut.db cut.nfsr
done
# of one block nothing could be believed: more blocks are needed to keep some
head -c $(($(stat -c %s long.nfsr) * 2 / 3)) long.nfsr >cut.nfsr
rm -f cut.db
expect "ingest: cut long record" 3 'cut\.nfsr: truncated at offset [0-9]+, in block' \
    $n ingest -q -o cut.db cut.nfsr
is "cut long record: kept" \
    "$(sql cut.db 'SELECT state, frames > 1000, operations > 1000 FROM source')" 'cut|1|1'
expect "cut long record: consistent" 1 'source 1 .*: cut: cut\.nfsr: truncated' $n check cut.db
is "cut long record: nothing else is wrong" "$("$n" check cut.db | grep -vc ': cut: ')" 0

python3 - <<'P'
data = bytearray(open("long.nfsr", "rb").read())
data[len(data) // 2] ^= 0x40
open("damaged.nfsr", "wb").write(data)
data = bytearray(open("good.nfsr", "rb").read())
data[8] = 9
open("later.nfsr", "wb").write(data)
P
rm -f cut.db
expect "ingest: damaged record" 3 'damaged\.nfsr: block [0-9]+ at offset [0-9]+: wrong checksum' \
    $n ingest -q -o cut.db damaged.nfsr
is "damaged record: kept" "$(sql cut.db 'SELECT state, operations > 100 FROM source')" 'cut|1'
for command in "ingest -o none.db" check info; do
    expect "$command: later record" 3 'later\.nfsr: is of \.nfsr version 9\..*reads version 1' \
        $n $command later.nfsr
done
nothing_stored "later record" none.db

# --- databases
cp good.db later.db
sqlite3 later.db 'PRAGMA user_version = 8'
for command in info check "ops -n 1"; do
    expect "$command: later database" 3 'later\.db: .*version 8, .*version 7' $n $command later.db
done
expect "ingest: later database" 3 'later\.db: .*version 8, .*version 7' $n ingest later.db "$long"
head -c $(($(stat -c %s good.db) / 2)) good.db >half.db
expect "check: half a database" 3 'half\.db.*damaged' $n check half.db
expect "ingest: half a database" 3 'half\.db.*damaged' $n ingest half.db "$long"
head -c 50 good.db >cut.db
expect "check: cut database" 3 'cut\.db' $n check cut.db
expect "info: cut database" 3 'cut\.db' $n info cut.db

# what check finds in a database; each line harms a copy of a good one
while IFS='|' read -r pattern harm; do
    cp good.db harmed.db
    sqlite3 harmed.db "$harm"
    expect "check: $harm" 1 "harmed\.db: .*$pattern" $n check harmed.db
done <<'T'
replies is 2|DELETE FROM operation WHERE id = 100
calls is 2|DELETE FROM operation WHERE id = 100
refers to a row of object|DELETE FROM object WHERE id = (SELECT object FROM operation WHERE object > 0 LIMIT 1)
refers to a row of path|DELETE FROM path WHERE id = (SELECT max(path) FROM operation)
refers to a row of credential|DELETE FROM credential
depends on 99999, which|UPDATE operation SET depends_on = 99999 WHERE id = 50
name_event 1: of operation 99999|UPDATE name_event SET operation = 99999 WHERE id = 1
was not read to its end|UPDATE source SET state = 'open'
index operation_by_path|DROP INDEX operation_by_path
is labelled 1, but has both|UPDATE operation SET pairing = 1 WHERE id = 60
frame 100000 is not one of source 1|UPDATE operation SET reply_frame = 100000 WHERE id = 60
neither call nor reply|UPDATE operation SET call_frame = NULL, reply_frame = NULL WHERE id = 60
its result: .*: |UPDATE operation SET result = x'000000000000' WHERE id = (SELECT id FROM operation WHERE procedure = 6 AND program = 100003 LIMIT 1)
its arguments: .*ends too early|UPDATE operation SET arguments = x'0000' WHERE id = (SELECT id FROM operation WHERE procedure = 6 AND program = 100003 LIMIT 1)
has the handle of object|INSERT INTO object SELECT 9999, server, handle, type, fsid, fileid, source, frame, time FROM object WHERE id = 1
its text is not that|UPDATE path SET text = 'x' || text WHERE id = (SELECT max(id) FROM path WHERE parent IS NOT NULL)
retransmissions is 0, but there are 1|INSERT INTO retransmission VALUES (NULL, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0)
problems is |INSERT INTO problem (source, kind) VALUES (1, 1)
T

# --- one bad file does not keep the others out
rm -f some.db
expect "ingest: some bad" 3 'text\.pcap: not a capture' \
    $n ingest -o some.db "$whole" text.pcap nowhere.pcap "$long"
is "some bad: the good ones are there" "$(sql some.db 'SELECT count(*) FROM source')" 2
rm -f some.nfsr
expect "record: some bad" 3 'text\.pcap: not a capture' $n record -o some.nfsr "$whole" text.pcap
expect "record: some bad: the good one is there" 0 'nothing wrong' $n check some.nfsr

finish
