#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
#
# Every option of the program does what its help says. One line is one test.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"
small=$(capture vfs-libnfs-all22)
other=other.pcap # not all of it, so that operations without call or reply are there
editcap -F pcap "$(capture knfsd-netem-udp)" $other $(seq 53 53 2500)
"$n" ingest -q -o t.db "$small" "$other"
"$n" record -o small.nfsr "$small"
"$n" rdump -o small.rdump small.nfsr >/dev/null
"$n" rdump --dump small.rdump -o small.text

# --- usage: name | exit code | pattern in what it says | arguments
while IFS='|' read -r name code pattern arguments; do
    eval "expect '$name' $code '$pattern' '$n' $arguments"
done <<'T'
no command|2|usage: nfsdigest COMMAND|
unknown command|2|no such command: "frobnicate"|frobnicate
version|0|^nfsdigest [0-9]+\.[0-9]+\.[0-9]+$|--version
version, short|0|^nfsdigest [0-9]|-V
help|0|ingest +read captures|--help
help, as command|0|check +verify|help
help of a command|0|usage: nfsdigest ops|help ops
help of an unknown command|2|no such command: "x"|help x
unknown option|2|--frob is not an option.*ops --help|ops --frob t.db
unknown letter|2|is not an option|info -Z t.db
option without value|2|needs a value|ops t.db --client
ambiguous option|2|ambiguous|ops --m 1 t.db
ops: no file|2|takes one file|ops
ops: two databases|2|takes one file|ops t.db t.db
tree: no file|2|takes one file|tree
tree: bad script|2|--script takes sh or mtree, not "perl"|tree --script perl t.db
tree: script and JSON|2|--script goes with --at, --under and --store only|tree --script sh -j t.db
tree: store then|2|not with --at|tree --store --at 1 t.db
tree: store into a stream|3|a record stream, not a trace database|tree --store small.nfsr
deps: store into a capture|3|not a trace database|deps --store "$small"
rdump: over its input|2|--output: .*would replace the input|rdump -o "$small" "$small"
rdump: a text over its dump|2|--output: small.rdump would replace the input|rdump --dump small.rdump -o small.rdump
rdump: a dump over its text|2|--output: ./small.text would replace the input|rdump --undump small.text -o ./small.text
deps: over its input|2|--dot: ./small.nfsr would replace the input small.nfsr|deps --dot ./small.nfsr small.nfsr
concurrency: over its input|2|--svg: t.db would replace|concurrency --svg t.db t.db
compare: twice standard input|2|only one side|compare - -
compare: a pipe|3|not a file; what comes through a pipe|compare t.db /dev/null
tree: nothing under|2|the trace shows no "/moon"|tree --under /moon t.db
tree: nothing under, script|2|the trace shows no "/moon"|tree --under /moon --script mtree t.db
tree: bad time|2|--at: .*is not a time|tree --at moon t.db
info: bad --every|2|--every: .*is not a duration|info --every moon t.db
info: bad time|2|--from: .*is not a time|info --from moon t.db
ops: bad sort|2|--sort takes time, latency, waited or bytes, not "moon"|ops --sort moon t.db
ops: bad column|2|no column is called "moon"; there are id time |ops --columns time,moon t.db
ops: empty column|2|no column is called ""|ops --columns time, t.db
ops: JSON and CSV|2|--json does not go with --csv|ops --json --csv t.db
ops: CSV and fields|2|--fields does not go with --csv|ops --csv --fields t.db
ops: nothing at a path|2|no path that begins with "/nosuch"|ops --path /nosuch t.db
who: no path|2|takes a file, and a path, a handle or .#N|who t.db
who: nothing there|2|no object with the path "/moon"|who t.db /moon
info: no file|2|takes one file|info
info: two files|2|takes one file|info t.db t.db
info: bad --by|2|--by takes procedure, client, server, user, path, phase, export or status|info --by moon t.db
check: no file|2|nothing to check|check
record: no capture|2|nothing to record|record -o x.nfsr
record: what was recorded|0|^{"output":"again.nfsr","frames":[0-9]+,"operations":206,"calls":[0-9]+,"replies":[0-9]+,"retransmissions":0,"copies":0,"problems":[0-9]+,"cut":false}$|record --json -o again.nfsr "$small"
record: no name|2|--output: a file.s name is missing|record -o "" "$small"
record: two on standard output|2|--json needs -o FILE|record --json "$small"
ingest: no file|2|nothing to ingest|ingest
ingest: no file for a database|2|nothing to ingest|ingest -o x.db
ingest: only a database|2|a database cannot be ingested; name what|ingest t.db
ingest: a database without a name|2|the name of the database is empty|ingest -o "" "$small"
ingest: an operand without a name|2|the name of the database is empty|ingest "" "$small"
ingest: a database in no file|2|:memory:: write ./:memory: for a file|ingest -o :memory: "$small"
ingest: a URI|2|write ./file:x.db for a file|ingest -o file:x.db "$small"
ingest: two databases|2|a database cannot be ingested|ingest t.db t.db
ingest: mistyped capture|3|nowhere.pcap: no such file|ingest nowhere.pcap t.db
ops: bad client|2|not an IPv4 or IPv6 address|ops --client moon t.db
ops: no such client|0|^nfsdigest: no operation matches; the clients of the trace are [0-9.]+|ops --client 192.0.2.1 t.db
ops: nothing then|0|^nfsdigest: no operation matches; the trace is from 20.* UTC|ops --to 1970-01-02 t.db
report: no such client|0|^nfsdigest: no operation matches; the clients of the trace are [0-9.]+|report --html none.html --client 192.0.2.1 t.db
outage: no such client|0|^nfsdigest: no operation matches; the clients of the trace are [0-9.]+|outage --client 192.0.2.1 t.db
starve: nothing then|0|^nfsdigest: no operation matches; the trace is from 20.* UTC|starve --to 1970-01-02 t.db
outage: --to before --from|2|--to \(20.*\) is before --from \(20|outage --from +5s --to +1s t.db
hang: --to before --from|2|--to \(20.*\) is before --from \(20|hang --from +5s --to +1s t.db
deps: bad range|2|^nfsdigest: --range: "5..3" is not a range|deps --list --range 5..3 t.db
ops: bad server|2|not an IPv4 or IPv6 address|ops --server 1.2.3 t.db
ops: bad procedure|2|no procedure is called "moon"|ops -P moon t.db
ops: bad program|2|no program is called "moon"|ops -g moon t.db
ops: bad status|2|no status is called "moon"|ops -S moon t.db
ops: bad time|2|--from: .*is not a time|ops --from moon t.db
ops: a day that is not in the calendar|2|--from: .*is not a time|ops --from 2026-02-30 t.db
ops: a time beyond 64 bits|2|--to: .*is not a time|ops --to 9999-01-01 t.db
ops: frames shifted too far|3|cannot be shifted by 9223372036854775807|ops --frame-shift 9223372036854775807 small.nfsr
ops: frames shifted too far down|3|cannot be shifted by -9223372036854775808|ops --frame-shift -9223372036854775808 small.nfsr
ops: bad time, to|2|--to: .*is not a time|ops --to 2026-13-99x t.db
ops: bad latency|2|--min-latency: .*is not a duration|ops --min-latency 1moon t.db
ops: bad xid|2|--xid: .*is not a number|ops --xid moon t.db
ops: bad limit|2|--limit: .*is not a number|ops -n -1 t.db
engine: bad port|2|--rpc-port: .*is not a port|record -o x --rpc-port 70000 x.pcap
engine: bad window|2|--stream-window: "0" is not a size from 1k to 1G|record -o x --stream-window 0 x.pcap
engine: bad window by its old name|2|--window: "0" is not a size|record -o x --window 0 x.pcap
engine: bad total window|2|--total-window: .*is not a size|record -o x --total-window 4X x.pcap
engine: bad connections|2|--connections: .*is not a number from 1|record -o x --connections 0 x.pcap
engine: bad pending|2|--pending: .*is not a number from 1|record -o x --pending x x.pcap
engine: bad span|2|--retransmit-span: .*is not a time|record -o x --retransmit-span x x.pcap
engine: half a server|2|"10.0.0.1" is not two addresses with "=" between them|ingest --same-server 10.0.0.1 x.db x.pcap
engine: same server, but nothing to know of it|2|same-server|anonymize --same-server 10.0.0.1=10.0.0.2 x.pcap
engine: bad reorder span|2|--reorder-span: .*is not a time|record -o x --reorder-span x x.pcap
T

# --- filters of ops: options | SQL condition that says the same; neither none nor all may fit
all=$(sql t.db 'SELECT count(*) FROM operation')
first=$(sql t.db 'SELECT min(call_time) FROM operation WHERE call_source = 2')
middle=$(sql t.db 'SELECT call_time FROM operation WHERE call_source = 2 LIMIT 1 OFFSET 500')
text=$(sql t.db "SELECT time FROM op WHERE call_source = 2 LIMIT 1 OFFSET 500")
while IFS='|' read -r options condition; do
    eval "'$n' ops $options t.db" >found.txt 2>&1 || bad "ops $options: $(head -1 found.txt)"
    want=$(sql t.db "SELECT count(*) FROM operation o WHERE $condition")
    is "ops $options" "$(wc -l <found.txt)" "$want"
    [ "$want" -gt 0 ] && [ "$want" -lt "$all" ] && ok || bad "ops $options: fits $want of $all"
    eval "'$n' ops --json $options t.db" >found.json
    is "ops --json $options" "$(python3 -c '
import json
print(*[json.loads(line)["id"] for line in open("found.json")])')" \
        "$(sql t.db "SELECT id FROM operation o WHERE $condition ORDER BY id" | paste -sd ' ')"
done <<T
--client 10.99.0.12|client = '10.99.0.12'
--client 127.0.0.1|client = '127.0.0.1'
--server 10.99.0.1|server = '10.99.0.1'
--server 127.0.0.1|server = '127.0.0.1'
--path /tmp|path IN (SELECT id FROM path WHERE text LIKE '/tmp%') OR path2 IN (SELECT id FROM path WHERE text LIKE '/tmp%')
--path /srv/exp/p/s1/|path IN (SELECT id FROM path WHERE text LIKE '/srv/exp/p/s1/%') OR path2 IN (SELECT id FROM path WHERE text LIKE '/srv/exp/p/s1/%')
--procedure READ|program = 100003 AND procedure = 6
-P readdirplus|program = 100003 AND procedure = 17
-P 1|procedure = 1
--program NFSACL|program = 100227
-g mount|program = 100005
-g 100003|program = 100003
-g nfs -P write|program = 100003 AND procedure = 7
--status NFS3ERR_NOENT|program = 100003 AND status = 2
-S noent|status = 2 AND program IN (100003, 100227)
-S 17|status = 17
-S success|rpc_status = 0
--status ok|rpc_status = 0 AND ifnull(status, 0) = 0
--status error|rpc_status <> 0 OR status <> 0
--status OK|rpc_status = 0 AND ifnull(status, 0) = 0
-S Error|rpc_status <> 0 OR status <> 0
-S eNoEnt|status = 2 AND program IN (100003, 100227)
--from '$text'|ifnull(call_time, reply_time) >= $middle
-f ${middle:0:10}.${middle:10}|ifnull(call_time, reply_time) >= $middle
--to '${text/ /T}Z'|call_time < $middle OR reply_time < $middle AND call_time IS NULL
-t ${middle:0:10}.${middle:10}|ifnull(call_time, reply_time) < $middle
--min-latency 1ms|reply_time - call_time >= 1000000
--max-latency 500us|reply_time - call_time <= 500000
--min-latency 0.0002 --max-latency 1000000ns|reply_time - call_time BETWEEN 200000 AND 1000000
--xid $(sql t.db 'SELECT xid FROM operation WHERE id = 77')|xid = (SELECT xid FROM operation WHERE id = 77)
-x $(sql t.db "SELECT printf('0x%x', xid) FROM operation WHERE id = 78")|xid = (SELECT xid FROM operation WHERE id = 78)
--frame 300 --source 2|(call_source = 2 AND 300 BETWEEN call_first_frame AND call_frame) OR (reply_source = 2 AND 300 BETWEEN reply_first_frame AND reply_frame)
-F $(sql t.db 'SELECT min(frame) FROM retransmission') --source 2|id = (SELECT operation FROM retransmission ORDER BY frame LIMIT 1)
--uid 0|credential IN (SELECT id FROM credential WHERE uid = 0)
--retransmitted|id IN (SELECT operation FROM retransmission)
--from +1s|ifnull(call_time, reply_time) >= (SELECT min(first_time) + 1000000000 FROM source)
--from -1s|ifnull(call_time, reply_time) >= (SELECT max(last_time) - 1000000000 FROM source)
--source 1|call_source = 1 OR reply_source = 1
--unpaired|pairing <> 0
-u|call_frame IS NULL OR reply_frame IS NULL
--limit 7|id IN (SELECT id FROM operation ORDER BY id LIMIT 7)
-n 3 -P read|id IN (SELECT id FROM operation WHERE procedure = 6 AND program = 100003 ORDER BY id LIMIT 3)
T

# --- what is printed
is "ops: one line" "$("$n" ops -P write -n 1 t.db | sed -E 's/[0-9.]+[mu]s/T/; s/\[[0-9]+-[0-9]+\]/[F]/; s/^[0-9-]+ [0-9:.]+/TIME/')" \
    "TIME $(sql t.db "SELECT o.client || ' > ' || o.server || ' NFS WRITE ' || p.text || ' @' || offset || '+' || count || ' NFS3_OK T' || ifnull(' uid ' || c.uid, '') || ' bytes ' || o.data_length FROM operation o JOIN path p ON p.id = o.path LEFT JOIN credential c ON c.id = o.credential WHERE program = 100003 AND procedure = 7 LIMIT 1") [F]"
while IFS='|' read -r by order; do
    is "ops --sort $by" "$("$n" ops --sort $by --columns id t.db | paste -sd ' ')" \
        "$(sql t.db "SELECT id FROM operation ORDER BY $order, id" | paste -sd ' ')"
    is "ops --sort $by -n 5" "$("$n" ops --sort $by --columns id -n 5 t.db | paste -sd ' ')" \
        "$(sql t.db "SELECT id FROM operation ORDER BY $order, id LIMIT 5" | paste -sd ' ')"
done <<'T'
time|ifnull(call_time, reply_time)
latency|reply_time - call_time IS NULL, reply_time - call_time DESC
bytes|data_length IS NULL, data_length DESC
T
python3 - "$n" <<'P' && ok || bad "ops --csv: values"
import csv, io, json, subprocess, sys
def said(*args):
    return subprocess.run([sys.argv[1], "ops", *args, "t.db"], capture_output=True, check=True).stdout.decode()
objects = [json.loads(line) for line in said("--json").splitlines()]
names = [k for k in objects[0] if k != "data_digest"]
def text(o, name):
    return "" if o[name] is None else str(o[name])
rows = list(csv.reader(io.StringIO(said("--csv", "--columns", ",".join(names)), newline="")))
assert rows[0] == names, rows[0]
assert rows[1:] == [[text(o, k) for k in names] for o in objects]
usual = list(csv.DictReader(io.StringIO(said("--csv"), newline="")))
assert len(usual) == len(objects) and all(r[k] == text(o, k) for r, o in zip(usual, objects) for k in r)
tabs = said("--columns", "latency,path").splitlines()
assert tabs == [text(o, "latency") + "\t" + text(o, "path") for o in objects]
P
cp t.db comma.db
sqlite3 comma.db "UPDATE path SET text = '/a,\"b\",c'"
is "ops --csv: quotes" "$("$n" ops --csv --columns path,pairing -n 1 -P getattr comma.db | tail -1 | tr -d '\r')" '"/a,""b"",c",paired'
python3 - "$n" <<'P' && ok || bad "ops --json: values"
import json, sqlite3, subprocess, sys
db = sqlite3.connect("t.db"); db.row_factory = sqlite3.Row
said = subprocess.run([sys.argv[1], "ops", "--json", "--fields", "t.db"], capture_output=True, check=True)
rows = db.execute("SELECT o.*, p.text AS path_text, q.text AS path2_text, c.uid FROM operation o"
                  " LEFT JOIN path p ON p.id = o.path LEFT JOIN path q ON q.id = o.path2"
                  " LEFT JOIN credential c ON c.id = o.credential ORDER BY o.id").fetchall()
lines = said.stdout.decode().splitlines()
assert len(lines) == len(rows), (len(lines), len(rows))
decoded = dots = 0
for line, row in zip(lines, rows):
    o = json.loads(line)
    for name in ("id", "call_time", "reply_time", "latency", "client", "server", "xid", "program",
                 "version", "procedure", "object", "object2", "new_object", "rpc_status", "status",
                 "call_source", "call_frame", "reply_source", "reply_frame", "call_flags",
                 "reply_flags", "data_length", "depends_on", "uid"):
        assert o[name] == row[name], (name, o[name], row[name])
    for name in ("offset", "count"):
        assert o[name] == (None if row[name] is None else row[name] % 2**64), (name, o[name])
    assert (o["path"], o["path2"]) == (row["path_text"], row["path2_text"]), o
    if (o["program"], o["procedure"]) == (100003, 6) and "arguments" in o:
        assert o["arguments"]["READ3args.offset"] == o["offset"], o
        assert o["arguments"]["READ3args.count"] == o["count"], o
        if o["status"] == 0:
            assert o["result"]["READ3res.resok.data"]["length"] == o["data_length"], o
        decoded += 1
    if (o["program"], o["procedure"]) == (100003, 16) and o["status"] == 0:
        names = [v for k, v in o["result"].items() if k.endswith(".name")]
        dots += "." in names and ".." in names
        decoded += len(names) > 0
assert decoded > 10 and dots > 0, (decoded, dots)
P
is "ops --fields" "$("$n" ops --fields -P access -n 1 t.db | sed -n 's/ = .*//; 3p')" "    ACCESS3args.access"

# --- info
python3 - "$n" <<'P' && ok || bad "info --json: values"
import json, math, sqlite3, subprocess, sys
db = sqlite3.connect("t.db"); db.row_factory = sqlite3.Row
def info(*args):
    return json.loads(subprocess.run([sys.argv[1], "info", "--json", *args], capture_output=True,
                                     check=True).stdout)
def percentile(values, p):
    return sorted(values)[max(math.ceil(len(values) * p / 100), 1) - 1]
i = info("--top", "100000", "t.db")
total = db.execute("SELECT count(*) AS n FROM operation").fetchone()["n"]
assert i["totals"][0]["operations"] == total
assert [s["frames"] for s in i["sources"]] == [r["frames"] for r in db.execute("SELECT * FROM source")]
assert sum(r["operations"] for r in i["pairing"]) == total

def user(row):
    if row["flavor"] is None:
        return "not known"
    return "uid %d" % row["uid"] if row["uid"] is not None else {0: "AUTH_NONE", 6: "RPCSEC_GSS"}[row["flavor"]]

def failed(r):
    return bool(r["rpc_status"] or r["status"] and (r["program"], r["status"]) != (100021, 3))

i.update(info("--by", "server", "--top", "100000", "t.db"))
for by in "procedure", "client", "user", "path", "server":
    groups = {}
    for row in db.execute("SELECT o.*, p.text AS path_text, c.flavor, c.uid FROM operation o"
                          " LEFT JOIN path p ON p.id = o.path"
                          " LEFT JOIN credential c ON c.id = o.credential"):
        key = {"procedure": (row["program"], row["version"], row["procedure"]),
               "client": row["client"], "server": row["server"], "user": user(row), "path": row["path_text"]}[by]
        if key is None or (by == "procedure" and key[0] is None):
            continue
        groups.setdefault(key, []).append(row)
    found = {(g["program"], g["version"], g["number"]) if by == "procedure" else g[by]: g
             for g in i["by_" + by]}
    assert found.keys() == groups.keys(), found.keys() ^ groups.keys()
    for key, rows in groups.items():
        g = found[key]
        latencies = [r["latency"] for r in rows if r["latency"] is not None]
        assert g["operations"] == len(rows), (key, g, len(rows))
        assert g["answered"] == len(latencies)
        assert g["errors"] == sum(map(failed, rows))
        for name, procedure in (("read", 6), ("written", 7)):
            assert g[name] == sum(r["data_length"] or 0 for r in rows
                                  if (r["program"], r["procedure"]) == (100003, procedure)), (key, g)
        for p in (50, 90, 99):
            assert g["p%d" % p] == (percentile(latencies, p) if latencies else None), (key, p, g)
        assert g["max"] == (max(latencies) if latencies else None)
    only = info("--by", by, "--top", "3", "t.db")
    assert len(only["by_" + by]) == min(3, len(groups)) and len(only) == 2, only.keys()
    assert only["by_" + by] == i["by_" + by][:len(only["by_" + by])]
    for column in "operations", "errors", "resent", "read", "written", "p50", "p90", "p99", "max":
        found = info("--by", by, "--sort", column, "--top", "4", "t.db")["by_" + by]
        wanted = sorted((-1 if g[column] is None else g[column] for g in i["by_" + by]), reverse=True)
        assert [-1 if g[column] is None else g[column] for g in found] == wanted[:4], (by, column)
    # the views say the same
    if by in ("procedure", "client"):
        view = {tuple(r)[0] if by == "client" else r["procedure"]: r
                for r in db.execute("SELECT * FROM latency_by_" + by)}
        assert len(view) > 0
    for r in db.execute("SELECT * FROM latency_by_client"):
        g = next(g for g in i["by_client"] if g["client"] == r["client"])
        assert abs(g["p90"] / 1e6 - r["p90_ms"]) < 1e-9 and g["answered"] == r["operations"]
    for r in db.execute("SELECT * FROM latency_by_path"):
        g = next(g for g in i["by_path"] if g["path"] == r["path"])
        assert abs(g["p50"] / 1e6 - r["p50_ms"]) < 1e-9 and abs(g["max"] / 1e6 - r["max_ms"]) < 1e-9
P
"$n" info t.db >info.txt
for pattern in 'Time +2026-' 'Operations +[0-9,]+ by 2 clients of 2 servers' 'retransmissions' 'reply lost' \
    'p50 +p90 +p99 +max +procedure' 'NFS READ$' 'NFSACL GETACL$' '10\.99\.0\.12$' 'path$' 'Counters' \
    'more; --top shows more'; do
    expect "info: $pattern" 0 "$pattern" cat info.txt
done
"$n" ingest -q -o locks.db "$CAPTURES/knfsd-nlm-locks.pcap.zst"
python3 - "$n" <<'P' && ok || bad "info --by status"
import json, sqlite3, subprocess, sys
def run(*a):
    return subprocess.run([sys.argv[1], *a], capture_output=True, text=True, check=True).stdout
for db in "t.db", "locks.db":
    rows = sqlite3.connect(db).execute(
        "SELECT s, p, n FROM (SELECT status AS s, program || ' ' || procedure AS p, count(*) AS n FROM op"
        " WHERE status NOT IN ('0', 'NFS3_OK', 'MNT3_OK', 'SUCCESS') AND status NOT LIKE '%GRANTED' GROUP BY 1, 2)").fetchall()
    found = json.loads(run("info", "--by", "status", "--top", "999", "-j", db))["by_status"]
    found = [g for g in found if g["number"] is not None]
    assert {(g["status"], g["procedure"], g["operations"]) for g in found} >= {r for r in rows if r[0]}, (found, rows)
    errors = sum(g["errors"] for g in found)
    assert errors == sum(g["operations"] for g in found if g["status"] != "NLM4_BLOCKED")
    assert errors == len(run("ops", "--status", "error", db).splitlines()), errors
    assert errors == sum(g["errors"] for g in json.loads(run("info", "-j", "--top", "999", db))["by_client"])
    assert errors == sum(i["errors"] for i in json.loads(run("info", "-j", "--every", "1h", db))["intervals"])
    if db == "locks.db":
        assert [g["operations"] for g in found if g["status"] == "NLM4_BLOCKED"] == [6], found
        text = run("info", "--by", "status", "--client", "10.99.0.11", db)
        assert "NLM4_DENIED " in text and "NLM LOCK\n" in text, text
        assert "10.99.0.11, ports 111, 39805\n" in run("info", db)
P
expect "info: bad --sort" 2 '--sort takes operations, errors' "$n" info --sort moon t.db
is "info --top 2" "$("$n" info --by client --top 2 t.db | grep -c '127.0.0.1\|10.99.0.12')" 2
"$n" ingest -q -o only.db "$small"
is "info of a record" "$("$n" info small.nfsr | tail -n +5 | head -60)" \
    "$("$n" info only.db | tail -n +5 | head -60)"
is "info of a capture" "$("$n" info "$small" | tail -n +5)" "$("$n" info only.db | tail -n +5)"

# --- check
cp t.db wrong.db
sqlite3 wrong.db "UPDATE operation SET depends_on = 99999 WHERE id = 5; UPDATE source SET calls = 3 WHERE id = 2"
head -c 3000 small.nfsr >cut.nfsr
python3 - "$n" <<'P' && ok || bad "check --json: values"
import json, subprocess, sys
files = ["t.db", "small.nfsr", "wrong.db", "cut.nfsr", "./moon", "info.txt"]
done = subprocess.run([sys.argv[1], "check", "--json", *files], capture_output=True, text=True)
rows = [json.loads(line) for line in done.stdout.splitlines()]
assert done.returncode == 3, done
assert [(r["file"], r["kind"], r["findings"], r["error"] is None) for r in rows] == [
    ("t.db", "trace database", 0, True), ("small.nfsr", "record stream", 0, True),
    ("wrong.db", "trace database", 2, True), ("cut.nfsr", "record stream", 0, False),
    ("./moon", None, 0, False), ("info.txt", None, 0, False)], rows
assert rows[2]["shown"][0] == "operation 5: depends on 99999, which is not there", rows[2]
assert rows[2]["shown"][1].startswith("source 2 (other.pcap): calls is 3, but there are "), rows[2]
assert "truncated at offset 3000" in rows[3]["error"] and "neither" in rows[5]["error"], rows
said = subprocess.run([sys.argv[1], "check", "t.db", "wrong.db"], capture_output=True, text=True)
assert said.returncode == 1 and said.stdout.splitlines() == \
    ["t.db: a trace database, nothing wrong"] + ["wrong.db: " + f for f in rows[2]["shown"]], said
P

# --- ingest: which operand is the database
rm -f trace.db
"$n" ingest -q - <"$small"
is "ingest -: trace.db" "$(sql trace.db 'SELECT name, kind FROM source')" 'standard input|capture'
rm -f trace.db
"$n" ingest -q - <small.nfsr
is "ingest -, a record" "$(sql trace.db 'SELECT name, kind FROM source')" 'standard input|nfsr'
is "ingest -: the same operations" "$(sql trace.db 'SELECT * FROM operation')" \
    "$(sql only.db 'SELECT * FROM operation')"
rm -f trace.db
"$n" ingest -q "$small"
is "ingest CAPTURE: trace.db" "$(sql trace.db 'SELECT count(*) FROM source')" 1
rm -f trace.db
"$n" ingest -q "$small" "$other"
is "ingest CAPTURE CAPTURE: trace.db" "$(sql trace.db 'SELECT count(*) FROM source')" 2
"$n" ingest -q new.db "$small"
is "ingest NEW CAPTURE" "$(sql new.db 'SELECT count(*) FROM source')" 1
"$n" ingest -q new.db "$other"
is "ingest OLD CAPTURE" "$(sql new.db 'SELECT count(*) FROM source')" 2
is "and all at once" "$(sql new.db .dump | cmp - <(sql t.db .dump))" ""
"$n" ingest -q --database third.db - <"$small"
is "ingest --database" "$(sql third.db 'SELECT count(*) FROM source')" 1
expect "ingest says what it did" 0 'frames, [0-9,]+ operations' "$n" ingest fourth.db "$small"
expect "ingest --quiet" 0 - "$n" ingest --quiet fifth.db "$small"
expect "known file" 0 'in the database already, as source 1' "$n" ingest fifth.db "$small"
head -c 30000 "$small" >cut.pcap
{ "$n" ingest --json eighth.db "$small" "$small" /dev/null || [ $? -eq 3 ]; } >ingested.json 2>told
{ "$n" ingest --json seventh.db cut.pcap || [ $? -eq 3 ]; } >>ingested.json 2>told
is "ingest --json" "$(python3 -c '
import json
for line in open("ingested.json"):
    o = json.loads(line)
    print(o["state"], o.get("frames"), o.get("operations"), bool(o.get("error")))' | paste -sd '|')" \
    "stored $(sql eighth.db "SELECT frames || ' ' || (SELECT count(*) FROM operation) FROM source") False|$(:
    )known None None True|unusable None None True|cut $(sql seventh.db "SELECT frames || ' ' ||
        (SELECT count(*) FROM operation) FROM source") True"
expect "known file through a pipe" 0 'in the database already, as source 1' \
    sh -c "'$n' ingest fifth.db - <'$small'"
is "known: nothing changed" "$(sql fifth.db .dump | cmp - <(sql fourth.db .dump))" ""
cut_stream() {
    head -c 3000 small.nfsr | "$n" ingest sixth.db -
}
expect "a writer that died" 3 'standard input: truncated at offset 3000' cut_stream

# --- a stream or a capture where a database stands
"$n" ingest -q -o small.db "$small"
mkdir temporary
path=$(sql small.db "SELECT path FROM object_name WHERE path LIKE '/%' AND object IS NOT NULL LIMIT 1")
for file in small.nfsr "$small"; do
    for command in ops "ops --json" tree "tree --json" deps "deps --list" concurrency \
        "rdump --with-results -o -" "info --by path"; do
        TMPDIR=$scratch/temporary "$n" $command "$file" >of_file
        is "$command $file" "$("$n" $command small.db | cmp - of_file)" ""
        [ -s of_file ] && ok || bad "$command $file: says nothing"
    done
    "$n" who "$file" "$path" | sed "s|ops --object \([0-9]*\) $file$|ops --object \1 small.db|" |
        cmp - <("$n" who small.db "$path") && ok || bad "who $file"
    "$n" ops - <"$file" | cmp - <("$n" ops small.db) && ok || bad "ops - <$file"
    expect "compare small.db $file" 0 'The two servers answer alike' \
        env TMPDIR="$scratch/temporary" "$n" compare -o out.db small.db "$file"
    is "names in the result" "$(sql out.db "SELECT database FROM side WHERE id = 2")" "$file"
    expect "compared again: $file" 0 'The two servers answer alike' "$n" compare -r linux-knfsd out.db
    expect "compare $file small.db" 0 'The two servers answer alike' "$n" compare "$file" small.db
    expect "noise: $file" 0 'The two servers answer alike' "$n" compare --noise "$file" small.db "$file"
    expect "compare - $file" 0 'The two servers answer alike' \
        sh -c "'$n' compare small.db - <'$file'"
done
is "nothing stays" "$(ls temporary)" ""
expect "a stream has no packets" 2 'has records, no packets' \
    "$n" compare --annotate out.pcapng small.db small.nfsr
expect "--annotate over a capture" 2 'would replace' \
    "$n" compare --annotate "$small" small.db "$small"
expect "a folder that is not there" 4 'nowhere/nfsdigest' \
    env TMPDIR=nowhere "$n" compare small.db small.nfsr
is "said on a terminal" "$(script -qec "'$n' compare small.db small.nfsr 2>&1 >out" said |
    tr -d '\r')" "nfsdigest: small.nfsr: is read into a temporary database"

# --- record
"$n" record "$small" >stdout.nfsr
is "record to standard output" "$(cmp stdout.nfsr small.nfsr)" ""
"$n" record -o - "$small" | cmp - small.nfsr && ok || bad "record -o -"
"$n" record --output long.nfsr - <"$small"
is "record of standard input" "$(cmp long.nfsr small.nfsr)" ""
gzip -c "$small" | "$n" record - | cmp - small.nfsr && ok || bad "record of gzip through a pipe"
"$n" record "$small" "$other" | "$n" ingest -q two.db -
is "record of two: frames go on" "$(sql two.db 'SELECT max(reply_frame), count(*) FROM operation')" \
    "$(sql t.db 'SELECT sum(frames), (SELECT count(*) FROM operation) FROM source' | sed 's/.*|//; s/^/'"$(sql t.db 'SELECT max(reply_frame) FROM operation WHERE reply_source = 2' | awk -v f="$(sql t.db 'SELECT frames FROM source WHERE id = 1')" '{ print $1 + f }')|"/)"

# --- how captures are read: capture | options | a query whose answer they change
while IFS='|' read -r name option query; do
    rm -f plain.db option.db
    [ -f "$name.pcap" ] || capture "$name" >/dev/null
    "$n" ingest -q plain.db "$name.pcap"
    "$n" ingest -q $option option.db "$name.pcap"
    [ "$(sql plain.db "$query")" != "$(sql option.db "$query")" ] && ok ||
        bad "$option: changes nothing: $(sql plain.db "$query")"
    "$n" record $option -o option.nfsr "$name.pcap"
    "$n" ingest -q option2.db option.nfsr
    is "record $option" "$(sql option2.db "$query")" "$(sql option.db "$query")"
    rm -f option2.db
done <<'T'
knfsd-netem-udp|--retransmit-span 0|SELECT count(*) FROM retransmission WHERE kind = 1
knfsd-netem-udp|--pending 1|SELECT count(*) FROM operation WHERE pairing = 3
knfsd-netem-tcp|--stream-window 1k|SELECT count(*) FROM problem
knfsd-netem-tcp|--window 1k|SELECT count(*) FROM problem
knfsd-netem-tcp|--total-window 1k|SELECT count(*) FROM problem
pair-knfsd|--connections 1|SELECT sum(value) FROM counter WHERE name = 'flow.evicted'
T
"$n" ingest -q --rpc-port 4444,5555 --rpc-port 6666 ports.db "$small"
is "--rpc-port" "$(sql ports.db 'SELECT options FROM carry' | grep -o ':.*')" ':4444 :5555 :6666'
expect "other options than before" 0 'pairing starts again' "$n" ingest -q ports.db "$other"
is "other options: all is there" "$(sql ports.db 'SELECT count(*) FROM operation')" "$all"
expect "other options: check" 0 'nothing wrong' "$n" check ports.db

finish
