#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: serial plugin
#
# Record mode when something is wrong: exit status, message, and what is left behind.
set -u

. "$(dirname "$0")/plugin_lib.sh"
full=$scratch/full
trap 'umount "$full" 2>/dev/null; rm -rf "$scratch"' EXIT
: >"$scratch/empty.pcap"
chmod -R a+rX "$scratch"

# --- options: before anything is read, and with no output ---

while IFS='|' read -r options pattern; do
    begin "options: $options"
    run small.pcap -z "$options"
    wants 2 "$pattern"
    leaves
    [ -s "$scratch/stdout" ] && fail "wrote to standard output"
    grep -q 'nfspair,help' "$scratch/stderr" || fail "does not name the help"
    end
done <<END
nfspair|out=FILE is missing
nfspair,out=|out= needs a file name
nfspair,out=$scratch/out,frob=1|frob=
nfspair,out=$scratch/out,help=1|help=
nfspair,out=$scratch/out,decap=x|decap=wireshark
nfspair,out=$scratch/out,port=0|"0" is not a port
nfspair,out=$scratch/out,stream-window=1|stream-window: "1" is not a size
nfspair,out=$scratch/out,out=$scratch/out2|given twice
nfspairs,out=$scratch/out|nfspairs
END

begin "the statistic given twice"
run small.pcap -z "nfspair,out=$scratch/out1" -z "nfspair,out=$scratch/out2"
wants 2 "given twice"
leaves
end

begin "help"
run small.pcap -z nfspair,help
[ "$status" -eq 0 ] || fail "exit $status"
grep -q 'decap=wireshark' "$scratch/stdout" || fail "no usage on standard output"
end

begin "standard output without -q"
"$tshark" -r "$scratch/small.pcap" -z nfspair,out=- >"$scratch/out1" 2>"$scratch/stderr"
status=$?
[ "$status" -eq 0 ] || fail "exit $status"
run small.pcap -z "nfspair,out=$scratch/out2"
cmp -s "$scratch/out1" "$scratch/out2" || fail "something is between the records"
end

# --- output that cannot be written ---

begin "no such folder"
run small.pcap -z "nfspair,out=$scratch/none/out"
wants 4 "none/out"
end

begin "a folder"
mkdir "$scratch/outdir"
run small.pcap -z "nfspair,out=$scratch/outdir"
wants 4 "outdir"
rmdir "$scratch/outdir"
leaves
end

for decap in engine wireshark; do
    begin "disk full at once, decap=$decap"
    run small.pcap -z "nfspair,out=/dev/full,decap=$decap"
    wants 4 "/dev/full.*No space left"
    end

    begin "closed pipe, decap=$decap"
    # the reader takes a little and goes
    "$tshark" -q -r "$scratch/large.pcap" -z "nfspair,out=-,decap=$decap" \
        2>"$scratch/stderr" | head -c 1000 >"$scratch/stdout"
    status=${PIPESTATUS[0]}
    wants 4 "Broken pipe"
    end
done

begin "disk full in the middle"
mkdir -p "$full"
if mount -t tmpfs -o size=512k,mode=777 none "$full" 2>"$scratch/stderr"; then
    echo old >"$full/out"
    chmod 666 "$full/out"
    run large.pcap -z "nfspair,out=$full/out"
    wants 4 "No space left"
    [ "$(cat "$full/out")" = old ] || fail "the old file is gone"
    [ "$(ls "$full")" = out ] || fail "left behind: $(ls "$full")"
    umount "$full"
else
    # without the right to mount: a limit on the size of files, which is another error at the same place
    (ulimit -f 512; trap '' XFSZ; run large.pcap -z "nfspair,out=$scratch/out"; echo $status) \
        >"$scratch/status"
    status=$(cat "$scratch/status")
    wants 4 "cannot write"
    leaves
fi
end

# --- input that is wrong ---

begin "a capture that is cut"
run cut.pcap -z "nfspair,out=$scratch/out"
[ "$status" -ne 14 ] || status=2 # tshark's own, 14 since 4.6
wants 2 "cut short"
"$NFSDIGEST" record -o "$scratch/out2" "$scratch/cut.pcap" >/dev/null 2>&1
[ $? -eq 3 ] || fail "nfsdigest record does not say that the capture is cut"
cmp -s "$scratch/out" "$scratch/out2" || fail "the stream is not that of nfsdigest record"
end

# tshark takes an empty file for a capture without frames, and so it is recorded
begin "an empty file"
run empty.pcap -z "nfspair,out=$scratch/out"
[ "$status" -eq 0 ] || fail "exit $status"
[ -s "$scratch/out" ] || fail "no stream"
end

for capture in text.pcap missing.pcap; do
    begin "no capture: $capture"
    run "$capture" -z "nfspair,out=$scratch/out"
    [ "$status" -ne 0 ] || fail "exit 0"
    leaves
    end
done

# --- interrupted ---

begin "interrupted while reading a file"
mkfifo "$scratch/fifo"
chmod 666 "$scratch/fifo"
# a capture that stops coming, so that there is time; exec: the process is tshark itself in the end
(exec "$tshark" -q -r "$scratch/fifo" -z "nfspair,out=$scratch/out") >"$scratch/stdout" \
    2>"$scratch/stderr" &
pid=$!
exec 9>"$scratch/fifo"
head -c 1000000 "$scratch/large.pcap" >&9
for _ in $(seq 100); do
    ls "$scratch"/out.*.part >/dev/null 2>&1 && break
    sleep 0.1
done
kill -TERM $pid
# it looks at that when the read comes back
head -c 3000000 "$scratch/large.pcap" | tail -c +1000001 >&9 2>/dev/null
exec 9>&-
wait $pid
status=$?
[ $status -ne 0 ] || fail "exit 0"
grep -q "not read to its end" "$scratch/stderr" || fail "no message"
leaves
end

echo "$tries tries, $failed failed"
[ "$failed" -eq 0 ] && [ "$tries" -ge 24 ]
