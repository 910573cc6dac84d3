#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
#
# Who has the key gets back what was in the capture, and guesses what became tokens; who has
# another one does not.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"
"$n" key new site.key >said.txt
"$n" key new other.key >>said.txt
secret=$(sed -n 2p site.key)

# --- usage: name | exit code | pattern in what it says | arguments
while IFS='|' read -r name code pattern arguments; do
    eval "expect '$name' $code '$pattern' '$n' unmask $arguments"
done <<'T'
no key|2|--key FILE is needed|uid 5
no class|2|name a class|-k site.key
unknown class|2|no class "size"|-k site.key size 5
no value|2|no value|-k site.key uid
key that is not there|3|nowhere.key|-k nowhere.key uid 5
policy that is not there|2|moon|-k site.key -p moon uid 5
no number|2|"x" is not a number of 32 bits|-k site.key uid x
too large|2|"4294967296" is not a number of 32 bits|-k site.key uid 4294967296
too large for a port|2|not a number of 16 bits|-k site.key port 65536
no address|2|"10.1.2" is not an IPv4 or IPv6|-k site.key address 10.1.2
odd handle|2|is not a handle|-k site.key handle 123
no handle|2|hexadecimal digits only|-k site.key handle 12zz
long handle|2|1 to 64 bytes|-k site.key handle $(printf "%0130d" 0)
token|2|a name under "token" of policy public cannot be mapped back: guess|-k site.key name x
mode|2|no class "mode"|-k site.key mode 5
token of a host|3|cannot be mapped back|-k site.key host x
candidates of numbers|2|are names, paths or hosts, not uid|-k site.key --candidates - uid
candidates and --forward|2|without --forward|-k site.key --forward --candidates - name
candidates that are not there|3|nowhere: cannot open|-k site.key --candidates nowhere name
T
chmod 644 other.key
expect "key that others may read" 3 'others than its owner' "$n" unmask -k other.key uid 5
chmod 600 other.key
"$n" unmask --help | grep -Eo -- '--[a-z][a-z-]+' | sort -u >help.txt
sed 's/\\-/-/g' "$SRC/man/nfsdigest-unmask.1" | grep -Eo -- '--[a-z][a-z-]+' | sort -u >page.txt
is "options in help and man page" "$(comm -3 help.txt page.txt)" ""

# --- a key of the first version of the mapping gives what it gave before there was another
(umask 077 && { echo 'nfsdigest anonymization key 1' && printf '%02x' {0..31} && echo; } >old.key)
while read -r address pseudonym; do
    is "old key: $address" "$("$n" unmask -k old.key --forward address $address)" \
        "$address"$'\t'"$pseudonym"
done <<'T'
10.1.2.3 20.255.4.147
128.11.68.132 112.244.68.155
2001:db8::1 28b3:6201:e106:d783:5816:21ef:15ad:f54b
T

# --- an independent program's pseudonyms, of the key 00 01 ... 1f
python3 "$SRC/tests/vectors/pseudonyms.py" | cmp - "$SRC/tests/vectors/pseudonyms.txt" && ok ||
    bad "pseudonyms.txt is not what pseudonyms.py prints"
(umask 077 && { sed -n 1p site.key && printf '%02x' {0..31} && echo; } >known.key)
while read -r kind class a b c; do
    case $kind in
        number) original=$b pseudonym=$c ;;
        bytes) [ ${#a} -le 128 ] || continue
            original=$a pseudonym=$b ;;
        token) original=$a pseudonym=$b ;;
    esac
    [ "$class" != path ] || continue
    [ "$class" != verifier ] || pseudonym=$(printf '0x%016x' "$pseudonym")
    is "$class $original" "$("$n" unmask -k known.key --forward $class "$original")" \
        "$original	$pseudonym"
done < <(grep -E '^(number|bytes|token) ' "$SRC/tests/vectors/pseudonyms.txt")

# --- there and back, by every policy
cat >some.txt <<'T'
address 10.1.2.3 93.184.216.34 127.0.0.1 2001:db8::7 fe80::1 ::ffff:10.1.2.3
uid 0 1 1000 65534 4294967295
gid 100
fileid 1 18446744073709551615
fsid 2051
device 8
cookie 1 2 9223372036854775807
verifier 0x0123456789abcdef
lock_owner 4711
stamp 1700000000
xid 99
port 2049 800
handle 01 0100 0100060012345678 ff
T
for policy in public lab strict; do
    while read -r class originals; do
        [ $policy-$class != strict-device ] || continue # cannot be mapped back there
        "$n" unmask -k site.key -p $policy --forward $class $originals >there.txt
        is "$policy: $class and back" \
            "$("$n" unmask -k site.key --policy $policy $class $(cut -f 2 there.txt) | cut -f 2 |
                paste -sd ' ')" \
            "$(cut -f 1 there.txt | paste -sd ' ')"
        cat there.txt >>said.txt
        # what does not stay has another pseudonym under another key; short ones may meet by chance
        "$n" unmask -k other.key -p $policy --forward $class $originals >other.txt
        is "$policy: $class under another key" "$(comm -12 <(sort there.txt) <(sort other.txt) |
            awk '$1 != $2 && length($2) > 4')" ""
    done <some.txt
done
expect "strict: device" 2 'a device under "zero" of policy strict cannot be mapped back' \
    "$n" unmask -k site.key -p strict device 8
"$n" unmask -k site.key -p strict --forward time 1700000000 | cut -f 2 >shifted.txt
[ "$(cat shifted.txt)" != 1700000000 ] && ok || bad "strict does not shift times"
is "time and back" "$("$n" unmask -k site.key -p strict time "$(cat shifted.txt)")" \
    "$(cat shifted.txt)	1700000000"
"$n" policy show public |
    sed 's/^name = token/name = same/; s/^path = token/path = same/; s/^name = public/name = long/' >same.conf
grep -q '^name = same' same.conf && ok || bad "no policy that keeps lengths"
for name in Makefile main.c 'x\x0ay' 'h\xe4 \xff' 'back\\slash' "$(printf '%0250d' 7)"; do
    "$n" unmask -k site.key -p ./same.conf --forward name "$name" | cut -f 2 >name.txt
    is "name $name and back" \
        "$("$n" unmask -k site.key -p ./same.conf name -- "$(cat name.txt)" | cut -f 2)" "$name"
    [ "$(cat name.txt)" != "$name" ] && ok || bad "name $name stays"
done

# --- guesses
printf '%s\n' Makefile main.c '' 'x\x0ay' 'h\xe4' README >guesses.txt
"$n" unmask -k site.key --forward name main.c 'x\x0ay' | cut -f 2 >tokens.txt
is "candidates" "$("$n" unmask -k site.key --candidates guesses.txt name $(cat tokens.txt) | cut -f 2)" \
    "$(printf 'main.c\nx\\x0ay')"
is "candidates of standard input" \
    "$("$n" unmask -k site.key --candidates - name $(cat tokens.txt) <guesses.txt | cut -f 1)" \
    "$(cat tokens.txt)"
is "all candidates" "$("$n" unmask -k site.key --candidates guesses.txt name | wc -l)" 5
expect "no candidate" 1 - "$n" unmask -k site.key --candidates guesses.txt name 0123456789abcdef
expect "another key" 1 - "$n" unmask -k other.key --candidates guesses.txt name $(cat tokens.txt)
printf '/srv/exp\nrelative/../x\n' >paths.txt
"$n" unmask -k site.key --candidates paths.txt path | cut -f 1 >tokens.txt
grep -Exq '/[0-9a-v]{16}/[0-9a-v]{16}' tokens.txt && grep -Exq '[0-9a-v]{16}/\.\./[0-9a-v]{16}' tokens.txt && ok ||
    bad "paths: $(cat tokens.txt)"
printf 'a\0b\n' >nul.txt
expect "candidate with NUL" 3 'nul.txt: line 1: has a NUL' "$n" unmask -k site.key --candidates nul.txt name
{ echo x && head -c 70000 /dev/zero | tr '\0' a; } >long.txt
expect "endless candidate" 3 'long.txt: line 2: too long' "$n" unmask -k site.key --candidates long.txt name
"$n" unmask -k site.key --json --candidates guesses.txt name >all.json
python3 - <<'P' && ok || bad "json: $(head -1 all.json)"
import json
rows = [json.loads(line) for line in open("all.json")]
assert [r["original"] for r in rows] == ["Makefile", "main.c", r"x\x0ay", r"h\xe4", "README"], rows
assert all(r["class"] == "name" and len(r["pseudonym"]) in (16, 18) for r in rows), rows
P

# --- a capture: all that was in it comes back, object by object
capture=$(capture pair-knfsd)
"$n" anonymize --key site.key -o anonymous.pcapng "$capture" >>said.txt 2>&1
"$n" ingest -q original.db "$capture"
"$n" ingest -q anonymous.db anonymous.pcapng
while IFS='|' read -r class query; do
    sql original.db "$query" | sort -u >originals.txt
    sql anonymous.db "$query" | sort -u >pseudonyms.txt
    is "$class: comes back" \
        "$("$n" unmask -k site.key $class $(cat pseudonyms.txt) | cut -f 2 | sort -u | cmp - originals.txt)" ""
    [ -s originals.txt ] && ok || bad "$class: the capture has none"
    if cmp -s originals.txt pseudonyms.txt; then bad "$class: stays"; else ok; fi
    cat pseudonyms.txt >>said.txt
done <<'T'
handle|SELECT lower(hex(handle)) FROM object WHERE length(handle) > 0
fileid|SELECT printf('%llu', fileid) FROM object WHERE fileid <> 0
fsid|SELECT printf('%llu', fsid) FROM object WHERE fsid <> 0
address|SELECT client FROM flow UNION SELECT server FROM flow
uid|SELECT uid FROM credential WHERE uid IS NOT NULL
T
query="SELECT DISTINCT name FROM name_event WHERE parent IS NOT NULL AND name NOT IN ('.', '..') ORDER BY name"
sql original.db "$query" >names.txt
sql anonymous.db "$query" >tokens.txt
[ -s names.txt ] && ok || bad "names: the capture has none"
mapfile -t tokens <tokens.txt
is "names are found among guesses" \
    "$("$n" unmask -k site.key --candidates names.txt name "${tokens[@]}" | cut -f 2 | sort -u | cmp - <(sort -u names.txt))" ""
is "and each token has its own" "$(wc -l <tokens.txt)" "$(wc -l <names.txt)"

# --- nothing that was printed tells the key
for at in $(seq 0 56); do
    ! grep -q "${secret:at:8}" said.txt all.json there.txt tokens.txt pseudonyms.txt ||
        bad "the key's digits $at to $((at + 8)) are in the output"
done

finish
