#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
#
# nfsdigest anonymize as a command: what it refuses, what it leaves behind, and that its output
# depends on captures, key and policy alone.
set -eu
. "$(dirname "$0")/store_lib.sh"
cd "$scratch"

anonymize() {
    "$NFSDIGEST" anonymize "$@"
}

holds() { # NAME COMMAND...
    if "${@:2}"; then ok; else bad "$1"; fi
}

mv "$(capture vfs-libnfs-all22)" one.pcap
mv "$(capture knfsd-nlm-locks)" two.pcap
"$NFSDIGEST" key new key >/dev/null
"$NFSDIGEST" key new other >/dev/null

# --- what is refused, and leaves nothing behind
expect "no capture" 2 "nothing to anonymize" anonymize -k key -o out
expect "no key" 2 "key new" anonymize -o out one.pcap
expect "a key that is not there" 3 "nokey" anonymize -k nokey -o out one.pcap
cp key open && chmod 644 open
expect "a key that others can read" 3 "open" anonymize -k open -o out one.pcap
expect "a file that is no key" 3 "one.pcap" anonymize -k one.pcap -o out one.pcap
expect "a policy that does not exist" 2 "nothere" anonymize -k key -p nothere -o out one.pcap
expect "a policy file that does not exist" 3 "nothere.conf" anonymize -k key -p ./nothere.conf -o out one.pcap
"$NFSDIGEST" policy show public | sed '/^handle/d; s/^name = public/name = mine/' >incomplete.conf
expect "a class without a rule" 3 "handle" anonymize -k key -p ./incomplete.conf -o out one.pcap
expect "a capture that is not there" 3 "nothere" anonymize -k key -o out nothere.pcap
expect "a file that is no capture" 3 "key" anonymize -k key -o out key
expect "a full disk" 4 "/dev/full" anonymize -k key -o /dev/full one.pcap
ulimit_run() { (ulimit -f 16; anonymize -k key -o out one.pcap); }
expect "no room for the output" 4 "out" ulimit_run
is "no output after errors" "$(find . -name 'out*')" ""

# --- a capture without packets becomes one
head -c 24 one.pcap >empty.pcap
expect "a capture without packets" 0 "holds no packets" anonymize -k key -o none empty.pcap
is "it has no packets" "$("$NFSDIGEST" info none | grep -c '^Frames  *0$')" 1
expect "the audit finds nothing" 0 "" "$NFSDIGEST" audit -k key empty.pcap none
anonymize -k key -o more empty.pcap one.pcap
anonymize -k key -o alone one.pcap
holds "before another one it adds nothing" cmp -s more alone

# --- what is there already stays
echo precious >out
expect "an output that exists" 2 "--force" anonymize -k key -o out one.pcap
is "it is untouched" "$(cat out)" precious
expect "a full disk, with --force" 4 "out" eval '(ulimit -f 16; anonymize --force -k key -o out one.pcap)'
is "it is untouched again" "$(cat out)" precious
expect "--force" 0 - anonymize --force -k key -o out one.pcap
is "it is replaced" "$(head -c 4 out | od -An -tx1 | tr -d ' ')" 0a0d0d0a

# --- the same bytes from the same captures, key and policy; others from others
anonymize -k key one.pcap >pipe
holds "through a pipe" cmp -s out pipe
anonymize -k key - <one.pcap >pipe
holds "from a pipe" cmp -s out pipe
anonymize -k key "$CAPTURES/vfs-libnfs-all22.pcap.zst" >pipe
holds "from a compressed file" cmp -s out pipe
"$NFSDIGEST" policy show public | sed 's/^name = public/name = mine/' >mine.conf
for change in "-k other" "-k key -p lab" "-k key -p strict" "-k key -p ./mine.conf"; do
    anonymize $change one.pcap >pipe
    holds "changed by $change" eval '! cmp -s out pipe && [ -s pipe ]'
done

# --- several captures, and one that was cut
expect "two captures" 0 "messages.whole" anonymize --stats -k key -o both one.pcap two.pcap
expect "counts as JSON" 0 '^\{"messages.whole":[1-9]' anonymize --json --force -k key -o both one.pcap two.pcap
expect "counts into the capture" 2 "use -o FILE" anonymize --json -k key -o - one.pcap
expect "a key as JSON" 0 '"usable":true,"mapping":2' "$NFSDIGEST" key new --json another
operations() { "$NFSDIGEST" info --json "$1" | python3 -c '
import json, sys
print(sum(source["operations"] for source in json.load(sys.stdin)["sources"]))'; }
is "operations of both" "$(operations both)" $(($(operations one.pcap) + $(operations two.pcap)))
head -c 100000 one.pcap >cut.pcap
expect "a capture that was cut" 3 "cut.pcap" anonymize -k key -o half cut.pcap
holds "what came before is there" [ "$(operations half)" -gt 20 ]
holds "and the output says so" grep -q 'input.cut 1' half
holds "others do not" eval '! grep -q input.cut both'
holds "the policy is named" grep -q 'policy public, SHA-256' out
tells_no_key() { # FILE: neither eight bytes of the key, nor these in hex
    python3 - key "$1" <<'P'
import sys
key = bytes.fromhex(open(sys.argv[1], encoding="ascii").read().split("\n")[1])
data = open(sys.argv[2], "rb").read()
parts = [key[i:i + 8] for i in range(len(key) - 7)]
sys.exit(len(key) != 32 or any(p in data or p.hex().encode() in data.lower() for p in parts))
P
}
holds "nothing tells the key" tells_no_key out
cat out key >told
holds "that would be seen" eval '! tells_no_key told'

finish
