#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
# nfsdigest rdump on dumps that are there: text and back, checks, and what it says when it cannot.
. "$SRC/tests/pipeline/store_lib.sh"
cd "$scratch" || exit 1
n=$NFSDIGEST
tool=$BUILD/bin/tests/rdump_tool

"$tool" example >good.rdump || bad "no example"
"$tool" random 3 2000 >odd.rdump || bad "no random dump"

# --- text and back: the same bytes, by files and by pipes
for dump in good odd; do
    "$n" rdump --dump $dump.rdump -o $dump.txt || bad "dump $dump"
    "$n" rdump --undump $dump.txt -o $dump.again || bad "undump $dump"
    cmp $dump.rdump $dump.again && ok || bad "$dump: not the same bytes"
    "$n" rdump --dump - <$dump.rdump | "$n" rdump --undump - | cmp - $dump.rdump && ok || bad "$dump: pipes"
    is "$dump: lines of text" "$(wc -l <$dump.txt)" \
        "$(($("$n" rdump --dump $dump.rdump --json | wc -l) + 1))"
done
is "grep finds a name" "$(grep -c '^entry .* name=hi$' good.txt)" 1
is "grep finds a procedure" "$(grep -c '# [0-9]* REMOVE ' good.txt)" 1
is "JSON" "$("$n" rdump --json --dump good.rdump | python3 -c '
import json, sys
print(*[json.loads(line)["kind"] for line in sys.stdin])')" \
    "trace host host credential object object entry operation operation operation operation operation end"

# --- checks
expect "a sound dump" 0 'good.rdump: a replay dump of 5 operations on a tree of 2 objects, nothing wrong' \
    "$n" rdump --check good.rdump
sed 's/ parent=1 / parent=2 /' good.txt >wrong.txt
"$n" rdump --undump wrong.txt -o wrong.rdump || bad "undump wrong"
expect "an entry in a file" 1 'entry 1: is in object 2, which is not a directory but of type 1' \
    "$n" rdump --check wrong.rdump
expect "many findings" 1 'odd.rdump: [0-9]* findings, the first 100 are shown' "$n" rdump --check odd.rdump
is "findings shown" "$("$n" rdump --check odd.rdump | wc -l)" 101

# --- damage: nothing is left behind, exit code 3
head -c -5 good.rdump >cut.rdump
expect "truncated" 3 'cut.rdump: truncated at offset' "$n" rdump --check cut.rdump
expect "truncated, as text" 3 'cut.rdump: truncated at offset' "$n" rdump --dump cut.rdump -o none.txt
[ ! -e none.txt ] && ok || bad "a text of a damaged dump"
python3 -c '
data = bytearray(open("good.rdump", "rb").read())
data[8] = 3
open("later.rdump", "wb").write(data)
data[8], data[-20] = 2, data[-20] ^ 4
open("flipped.rdump", "wb").write(data)'
expect "a later version" 3 'version 3.0, this program reads version 2' "$n" rdump --check later.rdump
expect "a flipped bit" 3 'wrong checksum' "$n" rdump --check flipped.rdump
expect "a flipped bit, as text" 3 'wrong checksum' "$n" rdump --dump flipped.rdump
expect "no dump" 3 'good.txt: not a replay dump, at byte 0' "$n" rdump --check good.txt
expect "no text" 3 'good.rdump: line 1: not the text of a replay dump' "$n" rdump --undump good.rdump -o none
sed 's/name=hi/name=hi name=ho/' good.txt >twice.txt
expect "text that cannot be" 3 'twice.txt: line 8: "name=ho" is there twice' \
    "$n" rdump --undump twice.txt -o none
[ ! -e none ] && ok || bad "a dump of text that cannot be"
expect "no file" 3 'moon: cannot be opened: No such file' "$n" rdump --check moon
expect "a folder" 3 '.: cannot be read: Is a directory' "$n" rdump --check .

# --- the same as JSON
cat >check.py <<'END'
import json, os, subprocess, sys
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/pipeline"))
import audit_schema
schema = json.load(open(os.path.join(os.environ["SRC"], "schemas/rdump-check.schema.json")))
done = subprocess.run([os.environ["NFSDIGEST"], "rdump", "--json", "--check", sys.argv[1]],
                      capture_output=True, text=True)
one = json.loads(done.stdout)
print(*audit_schema.errors(schema, one), sep="")
print(done.returncode, one["dump"], one["damage"], one["findings"], len(one["first_findings"]),
      one["totals"]["operations"], one["totals"]["objects"])
for finding in one["first_findings"][:1]:
    print(finding["where"], "|", finding["what"])
END
is "JSON of a sound dump" "$(python3 check.py good.rdump)" $'\n0 good.rdump None 0 0 5 2'
is "JSON of findings" "$(python3 check.py wrong.rdump)" \
    $'\n1 wrong.rdump None 1 1 5 2\nentry 1 | is in object 2, which is not a directory but of type 1'
is "JSON of many findings" "$(python3 check.py odd.rdump | sed -n 2p | cut -d' ' -f1-3,5)" \
    "1 odd.rdump None 100"
python3 check.py cut.rdump | grep -q '^3 cut.rdump cut.rdump: truncated at offset [0-9]*, .* 0 0 0 0$' && ok ||
    bad "JSON of damage: $(python3 check.py cut.rdump)"
expect "JSON of a text" 2 '--json does not go with --undump' "$n" rdump --json --undump good.txt

# --- usage
expect "two at once" 2 'only one of --dump, --check and --undump' "$n" rdump --dump a --check b
expect "output of a check" 2 '--check writes no file' "$n" rdump --check a -o b
expect "full disk" 4 'No space left' "$n" rdump --dump good.rdump -o /dev/full

# --- every option stands in the help and the man page, and the other way round
"$n" rdump --help | grep -Eo -- '--[a-z][a-z-]+' | sort -u >help.txt
sed 's/\\-/-/g' "$SRC/man/nfsdigest-rdump.1" | grep -Eo -- '--[a-z][a-z-]+' | sort -u >page.txt
is "options in help and man page" "$(comm -3 help.txt page.txt)" ""
[ -s help.txt ] && ok || bad "no options"

finish
