#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: serial plugin slow
#
# tshark -z nfsanon when something is wrong: exit status, message, and that no capture is left that
# is not whole.
set -u

. "$(dirname "$0")/plugin_lib.sh"
# the key belongs to the user that tshark is run as
"$BUILD/bin/with-plugins" "$NFSDIGEST" key new "$scratch/key" >"$scratch/stdout" || exit 1
cp "$scratch/key" "$scratch/open-key"
chmod 644 "$scratch/open-key"
echo "no key" >"$scratch/no-key"
chmod 600 "$scratch/no-key"
[ "$(id -u)" -ne 0 ] || chown nobody "$scratch/no-key"
{
    "$NFSDIGEST" policy show lab
    echo "frob = 1"
} >"$scratch/wrong.conf"
line=$(wc -l <"$scratch/wrong.conf")
grep -v '^data *=' <("$NFSDIGEST" policy show lab) >"$scratch/unset.conf"
good=key=$scratch/key

reference() { # CAPTURE: what it becomes, in $scratch/expected
    "$BUILD/bin/with-plugins" "$NFSDIGEST" anonymize --key "$scratch/key" -o - "$scratch/$1" \
        >"$scratch/expected" 2>"$scratch/stdout"
}

# --- before anything is read ---

while IFS='|' read -r code options pattern; do
    begin "options: ${options//$scratch\//}"
    run small.pcap -z "$options"
    wants "$code" "^nfsanon: .*$pattern"
    leaves
    [ -s "$scratch/stdout" ] && fail "wrote to standard output"
    if [ "$code" -eq 2 ]; then
        grep -q 'nfsanon,help' "$scratch/stderr" || fail "does not name the help"
    fi
    end
done <<END
2|nfsanon|out=FILE is missing
2|nfsanon,$good|out=FILE is missing
2|nfsanon,out=$scratch/out|key=FILE is missing
2|nfsanon,out=$scratch/out,key=|key= needs
2|nfsanon,out=$scratch/out,$good,frob=1|frob=
2|nfsanon,out=$scratch/out,$good,force=1|force=
2|nfsanon,out=$scratch/out,$good,rpc-port=0|"0" is not a port
3|nfsanon,out=$scratch/out,key=$scratch/missing|$scratch/missing: .*No such file
3|nfsanon,out=$scratch/out,key=$scratch/open-key|$scratch/open-key: its mode is 0644
3|nfsanon,out=$scratch/out,key=$scratch/no-key|$scratch/no-key
3|nfsanon,out=$scratch/out,key=$scratch|$scratch: not a key
2|nfsanon,out=$scratch/out,$good,policy=|policy= needs
2|nfsanon,out=$scratch/out,$good,policy=nosuch|nosuch
3|nfsanon,out=$scratch/out,$good,policy=$scratch/missing.conf|missing.conf
3|nfsanon,out=$scratch/out,$good,policy=$scratch/wrong.conf|wrong.conf:$line: .*frob
3|nfsanon,out=$scratch/out,$good,policy=$scratch/unset.conf|unset.conf.*data
4|nfsanon,out=$scratch/none/out,$good|none/out
4|nfsanon,out=$scratch,$good|$scratch
END

begin "the statistic given twice"
run small.pcap -z "nfsanon,out=$scratch/out1,$good" -z "nfsanon,out=$scratch/out2,$good"
wants 2 "nfsanon is given twice"
leaves
end

begin "help"
run small.pcap -z nfsanon,help
[ "$status" -eq 0 ] || fail "exit $status"
grep -q 'policy=NAME' "$scratch/stdout" || fail "no usage on standard output"
end

# --- outputs that are there already ---

begin "a capture is there"
echo old >"$scratch/out"
run small.pcap -z "nfsanon,out=$scratch/out,$good"
wants 2 "$scratch/out exists: \"force\" replaces it"
[ "$(cat "$scratch/out")" = old ] || fail "the old file is gone"
leaves out
end

begin "force"
echo old >"$scratch/out"
chmod 666 "$scratch/out"
run small.pcap -z "nfsanon,out=$scratch/out,$good,force"
[ "$status" -eq 0 ] || fail "exit $status"
reference small.pcap
cmp -s "$scratch/out" "$scratch/expected" || fail "not the new capture"
leaves out
end

begin "a link to nowhere"
ln -s out2 "$scratch/out"
run small.pcap -z "nfsanon,out=$scratch/out,$good"
wants 2 "$scratch/out exists"
leaves out
end

begin "silence, and stats"
run small.pcap -z "nfsanon,out=$scratch/out,$good"
# the wrapper's user has no home folder, about which some releases' tshark complains: ours only
grep -v nfsanon "$scratch/stderr" >"$scratch/before"
run small.pcap -z "nfsanon,out=$scratch/out,$good,force,stats"
wants 0 '^ *[1-9][0-9]*  messages.whole$'
grep -q 'messages.whole' "$scratch/before" && fail "counts without stats"
[ "$(grep -vc '^ *[0-9]*  [a-z_.0-9]*$' "$scratch/stderr")" -eq "$(wc -l <"$scratch/before")" ] ||
    fail "something else is said"
end

# slow NAME STATISTIC...: begins a run on a capture that stops coming; its process is $pid, its
# input descriptor 9
slow() {
    local words=()
    name=$1
    shift
    for statistic; do
        words+=(-z "$statistic")
    done
    rm -f "$scratch/fifo"
    mkfifo "$scratch/fifo"
    chmod 666 "$scratch/fifo"
    # exec: the process is tshark itself in the end
    (exec "$tshark" -q -r "$scratch/fifo" "${words[@]}") >"$scratch/stdout" 2>"$scratch/stderr" &
    pid=$!
    exec 9>"$scratch/fifo"
    head -c 1000000 "$scratch/large.pcap" >&9
    for _ in $(seq 100); do
        ls "$scratch"/out.*.part >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "it did not begin"
}

go_on() { # BYTES: so much more of the capture, and its end
    head -c $((1000000 + $1)) "$scratch/large.pcap" | tail -c +1000001 >&9 2>/dev/null
    exec 9>&-
    wait $pid
    status=$?
}

begin "a capture came while this one was made"
slow "$name" "nfsanon,out=$scratch/out,$good"
echo other >"$scratch/out"
go_on 100000000
wants 2 "$scratch/out: exists"
[ "$(cat "$scratch/out")" = other ] || fail "the other file is gone"
leaves out
end

begin "interrupted"
slow "$name" "nfsanon,out=$scratch/out,$good"
kill -TERM $pid
go_on 2000000 # it looks at that when the read comes back
[ $status -ne 0 ] || fail "exit 0"
grep -q "not read to its end: $scratch/out is not complete" "$scratch/stderr" || fail "no message"
leaves
end

begin "killed"
slow "$name" "nfsanon,out=$scratch/out,$good"
kill -KILL $pid
go_on 0 2>"$scratch/stdout" # where the shell tells of it
[ $status -eq 137 ] || fail "exit $status"
[ ! -e "$scratch/out" ] || fail "there is a capture"
end

# --- outputs that cannot be written ---

cat >"$scratch/full.c" <<'C'
/* A disk with room for FULL_AFTER bytes: writes to files fail with ENOSPC behind that.  And a file
 * system that cannot refuse to replace a file in one step (OLD_RENAME). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
ssize_t write(int fd, const void *data, size_t len)
{
    static ssize_t (*real)(int, const void *, size_t);
    static long left = -1;
    struct stat st;
    const char *room = getenv("FULL_AFTER");
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (!room || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || fd == 2)
        return real(fd, data, len);
    if (left < 0)
        left = atol(room);
    if ((long)len > left) {
        errno = ENOSPC;
        return -1;
    }
    left -= (long)len;
    return real(fd, data, len);
}
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    static int (*real)(int, const char *, int, const char *, unsigned);
    if (!real)
        real = (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
    if (flags && getenv("OLD_RENAME")) {
        errno = EINVAL;
        return -1;
    }
    return real(from_dir, from, to_dir, to, flags);
}
C
cc -shared -fPIC -o "$scratch/full.so" "$scratch/full.c" -ldl || exit 1
chmod a+rx "$scratch/full.so"

shimmed() { # VARIABLE=VALUE CAPTURE OPTION...
    local variable=$1
    shift
    "$BUILD/bin/with-plugins" env LD_PRELOAD="$scratch/full.so" "$variable" tshark -q \
        -r "$scratch/$1" "${@:2}" >"$scratch/stdout" 2>"$scratch/stderr"
    status=$?
}

reference large.pcap
size=$(stat -c %s "$scratch/expected")
begin "the shim lets through what there is room for"
shimmed FULL_AFTER=$((size + 1000)) large.pcap -z "nfsanon,out=$scratch/out,$good"
[ "$status" -eq 0 ] || fail "exit $status"
cmp -s "$scratch/out" "$scratch/expected" || fail "other bytes"
end
for part in 0 1 20 60 99; do
    for decap in engine wireshark; do
        begin "room for $part %, decap=$decap"
        shimmed FULL_AFTER=$((size * part / 100)) large.pcap \
            -z "nfsanon,out=$scratch/out,$good,decap=$decap"
        wants 4 "$scratch/out: cannot write: No space left"
        leaves
        end
    done
done

begin "room for half, over another capture"
echo old >"$scratch/out"
shimmed FULL_AFTER=$((size / 2)) large.pcap -z "nfsanon,out=$scratch/out,$good,force"
wants 4 "No space left"
[ "$(cat "$scratch/out")" = old ] || fail "the old file is gone"
leaves out
end

begin "a file system without RENAME_NOREPLACE"
shimmed OLD_RENAME=1 small.pcap -z "nfsanon,out=$scratch/out,$good"
[ "$status" -eq 0 ] || fail "exit $status"
reference small.pcap
cmp -s "$scratch/out" "$scratch/expected" || fail "other bytes"
leaves out
end

for decap in engine wireshark; do
    begin "disk full at once, decap=$decap"
    run small.pcap -z "nfsanon,out=/dev/full,$good,decap=$decap"
    wants 4 "/dev/full.*No space left"
    end

    begin "closed pipe, decap=$decap"
    # the reader takes a little and goes
    "$tshark" -q -r "$scratch/large.pcap" -z "nfsanon,out=-,$good,decap=$decap" \
        2>"$scratch/stderr" | head -c 1000 >"$scratch/stdout"
    status=${PIPESTATUS[0]}
    wants 4 "standard output: cannot write: Broken pipe"
    end
done

# --- beside nfspair: who fails ends the run, and says so ---

begin "two on standard output"
run small.pcap -z "nfspair,out=-" -z "nfsanon,out=-,$good"
wants 2 "^nfsanon: out=- is where nfspair writes to"
end

begin "two on one file"
run small.pcap -z "nfsanon,out=$scratch/out,$good" -z "nfspair,out=$scratch/out"
wants 2 "^nfspair: out=$scratch/out is where nfsanon writes to"
leaves
end

begin "two on one device"
run small.pcap -z "nfsanon,out=/dev/null,$good,stats" -z "nfspair,out=/dev/null"
wants 0 "messages.whole"
end

begin "a key is missing, beside nfspair"
run small.pcap -z "nfspair,out=$scratch/out1" -z "nfsanon,out=$scratch/out2,key=$scratch/missing"
wants 3 "^nfsanon: $scratch/missing"
leaves
end

begin "closed pipe, beside nfspair"
"$tshark" -q -r "$scratch/large.pcap" -z "nfspair,out=$scratch/out" -z "nfsanon,out=-,$good" \
    2>"$scratch/stderr" | head -c 1000 >"$scratch/stdout"
status=${PIPESTATUS[0]}
wants 4 "^nfsanon: standard output: cannot write: Broken pipe"
grep -q "^nfspair: .*$scratch/out is not complete" "$scratch/stderr" || fail "nfspair is silent"
leaves
end

"$NFSDIGEST" record -o "$scratch/expected" "$scratch/large.pcap" >"$scratch/stdout" 2>&1
for order in 1 2; do
    begin "one fails at the very end, the other is whole: $order"
    set -- "nfspair,out=$scratch/out" "nfsanon,out=$scratch/out2,$good"
    [ $order -eq 1 ] || set -- "$2" "$1"
    slow "$name" "$@"
    echo other >"$scratch/out2"
    go_on 100000000
    wants 2 "^nfsanon: $scratch/out2: exists"
    cmp -s "$scratch/out" "$scratch/expected" || fail "not the stream of nfsdigest record"
    [ "$(cat "$scratch/out2")" = other ] || fail "the other file is gone"
    end
done

# --- input that is wrong ---

begin "a capture that is cut"
run cut.pcap -z "nfsanon,out=$scratch/out,$good" -z "nfspair,out=$scratch/out.nfsr"
[ "$status" -ne 14 ] || status=2 # tshark's own, 14 since 4.6
wants 2 "cut short"
reference cut.pcap
[ $? -eq 3 ] || fail "nfsdigest anonymize does not say that the capture is cut"
cmp -s "$scratch/out" "$scratch/expected" || fail "the capture is not that of nfsdigest anonymize"
"$NFSDIGEST" record -o "$scratch/out2" "$scratch/cut.pcap" >/dev/null 2>&1
cmp -s "$scratch/out.nfsr" "$scratch/out2" || fail "the stream is not that of nfsdigest record"
end

for capture in text.pcap missing.pcap; do
    begin "no capture: $capture"
    run "$capture" -z "nfsanon,out=$scratch/out,$good"
    [ "$status" -ne 0 ] || fail "exit 0"
    leaves
    end
done

echo "$tries tries, $failed failed"
[ "$failed" -eq 0 ] && [ "$tries" -ge 54 ]
