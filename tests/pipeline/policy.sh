#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
#
# "nfsdigest policy" and "nfsdigest key": what they print is true of the files, and what is wrong is
# refused in its line.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"
files=$SRC/schemas/policies

# a changed built-in policy under a name of its own
"$n" policy show public | sed -e 's/^name = public/name = mine/' >mine.conf
sed -e '/^cookie = /d' mine.conf >lacks.conf
sed -e 's/^uid = keyed/uid = kept/' mine.conf >word.conf
sed -e 's/^name = mine/name = strict/' mine.conf >disguised.conf
printf '[fields]\nREAD3args.offset = zero\n' | cat mine.conf - >field.conf
printf '[fields]\nREAD3args.file = keep\n' | cat mine.conf - >opens.conf
lines=$(wc -l <mine.conf)
number() { grep -n "$2" "$1" | cut -d: -f1; }
mkdir folder.conf
zstd -dqc "$CAPTURES/vfs-libnfs-all22.pcap.zst" >small.pcap
head -c 100000 small.pcap >cut.pcap
head -c 24 small.pcap >none.pcap
head -c 1100000 /dev/zero | tr '\0' '#' >large.conf
mkfifo key.pipe
umask 022

# --- name | exit code | pattern in what it says | arguments
while IFS='|' read -r name code pattern arguments; do
    eval "expect '$name' $code '$pattern' '$n' $arguments"
done <<T
policy: nothing|2|policy: missing subcommand|policy
policy: help|0|policy show +print|policy --help
policy: help, as command|0|policy check +check|help policy
policy: unknown command|2|no such command: "policy moon": see "nfsdigest policy --help"|policy moon
policy show: help|0|usage: nfsdigest policy show|policy show --help
policy show: bad option|2|--moon is not an option.*policy show --help|policy show --moon public
policy show: nothing|2|takes one policy|policy show
policy show: two|2|takes one policy|policy show public lab
policy show: unknown|2|no policy is called "moon": there are lab, public, strict|policy show moon
policy list: argument|2|takes no argument|policy list public
policy check: nothing|2|nothing to check|policy check
policy check: unknown|2|no policy is called "moon"|policy check moon
policy check: no file|3|nowhere.conf: no such file|policy check nowhere.conf
policy check: folder|3|folder.conf: Is a directory|policy check folder.conf
policy check: large|3|large.conf: too large|policy check large.conf
policy check: endless|3|/dev/zero: too large|policy check /dev/zero
policy check: class not set|3|lacks.conf:$(number lacks.conf '^\[classes'): \[classes\] does not set "cookie"|policy check lacks.conf
policy check: unknown rule|3|word.conf:$(number word.conf '^uid = kept'): uid = "kept": allowed is keep, keyed, zero|policy check word.conf
policy check: a built-in name|3|disguised.conf: name = strict, but this is not|policy check disguised.conf
policy check: field|3|field.conf:$((lines + 2)): READ3args.offset = "zero": allowed is keep|policy check field.conf
policy check: good|0|mine.conf: policy mine can be used; it gives away:|policy check mine.conf
policy check: kept field|0|READ3args.file = keep: file handles|policy check opens.conf
policy check: good and bad|3|mine.conf: policy mine|policy check word.conf mine.conf
policy survives: help|0|usage: nfsdigest policy survives .*ORIGINAL ANONYMIZED|policy survives --help
policy survives: nothing|2|takes an original and an anonymized|policy survives
policy survives: one|2|takes an original and an anonymized|policy survives mine.conf
policy survives: bad examples|2|--examples: .*is not a number|policy survives -e few a b
policy survives: no file|3|nowhere.pcap: |policy survives nowhere.pcap nowhere.pcap
policy survives: no capture|3|mine.conf: |policy survives mine.conf mine.conf
policy survives: unknown policy|2|no policy is called "moon"|policy survives -p moon small.pcap small.pcap
policy survives: bad policy|3|lacks.conf:|policy survives -p lacks.conf small.pcap small.pcap
policy survives: cut|3|the anonymized capture is cut in the middle of a packet|policy survives -p public small.pcap cut.pcap
policy survives: another capture|3|no message of one capture is in the other|policy survives small.pcap none.pcap
policy survives: text|0|Policy unknown: 412 messages compared, 0 of the original are missing|policy survives small.pcap small.pcap
policy survives: rules of a file|0|handle = [.]{3}|policy survives -p opens.conf small.pcap small.pcap
key: nothing|2|key: missing subcommand|key
key: unknown command|2|no such command: "key moon"|key moon
key new: help|0|usage: nfsdigest key new \[OPTION...\] FILE|key new --help
key new: nothing|2|takes one file|key new
key new: two|2|takes one file|key new a b
key new: no folder|4|nowhere/a.key: cannot create|key new nowhere/a.key
key new|0|a.key: a new key of 256 bits|key new a.key
key new: again|2|a.key exists|key new a.key
key new: over a file|2|mine.conf exists|key new mine.conf
key new: over a folder|2|folder.conf exists|key new folder.conf
key check: nothing|2|nothing to check|key check
key check|0|a.key: a key, can be used|key check a.key
key new: old mapping|0|old.key: a new key of 256 bits|key new --mapping 1 old.key
key new: unknown mapping|2|no such version of the mapping: 3|key new --mapping 3 later.key
key new: mapping what|2|is not a number|key new --mapping old later.key
key check: old mapping|0|of version 1 of the mapping, which hides less|key check old.key
key check: no key|3|mine.conf: |key check mine.conf
key check: no file|3|nowhere.key: |key check nowhere.key
key check: pipe|3|key.pipe: |key check key.pipe
key check: good and bad|3|a.key: a key|key check nowhere.key a.key
T
gzip -k opens.conf
expect "policy check: no text" 3 'opens.conf.gz:1: not UTF-8' "$n" policy check opens.conf.gz

# --- built-in policies are the files of the schemas, no more and no less
is "policy list --json" "$("$n" policy list --json | python3 -c '
import json, sys
print(*[json.loads(l)["name"] for l in sys.stdin])')" "$("$n" policy list | cut -d' ' -f1 | paste -sd' ')"
is "policy check --json" "$("$n" policy check --json lab ./lacks.conf public 2>told | python3 -c '
import json, sys
for o in map(json.loads, sys.stdin):
    print(o["policy"], o["usable"], o.get("name"), len(o.get("warnings", [])), "error" in o)' | paste -sd '|')" \
    "lab True lab $("$n" policy check lab | grep -c '^    ') False|./lacks.conf False None 0 True|public True public $(
        "$n" policy check public | grep -c '^    ') False"
is "key check --json" "$("$n" key check --json a.key mine.conf old.key 2>told | python3 -c '
import json, sys
for o in map(json.loads, sys.stdin):
    print(o["file"], o["usable"], o.get("mapping"), "error" in o)' | paste -sd '|')" \
    "a.key True 2 False|mine.conf False None True|old.key True 1 False"
is "policy list" "$("$n" policy list | cut -d' ' -f1 | paste -sd' ')" \
    "$(cd "$files" && ls ./*.conf | sed 's|./||; s|\.conf||' | paste -sd' ')"

# Python reads the same files on its own; show must say all that they say, in both forms
python3 - "$n" "$files" <<'P' && ok || bad "policy show: values"
import configparser, hashlib, json, pathlib, subprocess, sys
n, files = sys.argv[1], pathlib.Path(sys.argv[2])
LISTS = {"keep-suffixes", "keep-prefixes", "keep-ranges"}
RANGES = ["loopback", "link-local", "multicast", "private"]
def run(*args):
    return subprocess.run([n, *args], capture_output=True, check=True).stdout.decode()
def value(group, key, text):
    parts = [part for part in text.split(";") if part]
    if group == "keep":
        return sorted(int(part, 0) for part in parts)
    if key == "keep-ranges":
        return sorted(parts, key=RANGES.index)
    return sorted(parts) if key in LISTS else int(text) if key == "shift-days" else text
def read(text):
    parser = configparser.ConfigParser(interpolation=None, delimiters="=", strict=True)
    parser.optionxform = str
    parser.read_string(text)
    return {g: {k: value(g, k, v) for k, v in parser[g].items()} for g in parser.sections()}
digests = set()
for path in sorted(files.glob("*.conf")):
    source, text = read(path.read_text()), run("policy", "show", path.stem)
    digest, body = text.split("\n", 1)
    assert digest.endswith(" " + hashlib.sha256(body.encode()).hexdigest()), path
    shown = read(text)
    for group, keys in source.items():
        for key, expected in keys.items():
            assert shown[group][key] == expected, (path, group, key, shown[group][key], expected)
    for group, keys in shown.items():
        for key, found in keys.items():
            assert key in source.get(group, {}) or found in ([], ""), (path, group, key)
    said = json.loads(run("policy", "show", "--json", path.stem))
    assert said["digest"] == digest.split()[-1]
    assert {"name": said["name"], "description": said["description"]} == shown["policy"]
    assert said["time"]["shift-days"] == shown.get("time", {}).get("shift-days", 0)
    for group in ("classes", "messages", "names", "addresses", "keep", "fields"):
        assert said[group] == shown.get(group, {}), (path, group, said[group])
    checked = run("policy", "check", path.stem).splitlines()[1:]
    assert [line.strip() for line in checked] == said["warnings"] and said["warnings"], checked
    digests.add(said["digest"])
assert len(digests) == 3
P

# --- what is printed is a policy file that means the same
for policy in public lab strict; do
    "$n" policy show $policy >printed.conf
    is "policy show of what $policy printed" "$("$n" policy show ./printed.conf)" "$(cat printed.conf)"
    is "the file of $policy" "$("$n" policy show "$files/$policy.conf")" "$(cat printed.conf)"
done
is "nothing on standard error" "$("$n" policy show public 2>&1 >/dev/null)" ""

# --- keys
is "mode of a key" "$(stat -c %a a.key)" 600
(umask 000 && "$n" key new b.key >said.txt)
is "mode of a key, without umask" "$(stat -c %a b.key)" 600
cmp -s a.key b.key && bad "two keys are the same" || ok
secret=$(tail -n 1 b.key)
[ ${#secret} -eq 64 ] && ! grep -qi "${secret:0:8}" said.txt && ok || bad "key new says the key"
"$n" key check b.key | grep -qi "${secret:0:8}" && bad "key check says the key" || ok
before=$(sha256sum a.key)
"$n" key new a.key 2>/dev/null && bad "key new overwrites" || ok
is "a key that is there stays" "$(sha256sum a.key)" "$before"
ln -s nothing.key link.key
expect "key new: over a link to nothing" 2 'link.key exists' "$n" key new link.key
[ -e nothing.key ] && bad "key new follows a link" || ok
for mode in 640 604 660 644 601; do
    chmod $mode b.key
    expect "key check: mode $mode" 3 "b.key: .*0$mode" "$n" key check b.key
done
chmod 400 b.key
expect "key check: mode 400" 0 'can be used' "$n" key check b.key
chmod 600 b.key
head -c 80 b.key >cut.key && chmod 600 cut.key
expect "key check: cut" 3 'cut.key: ' "$n" key check cut.key
grep -aqi "${secret:0:8}" "$scratch/said" && bad "key check says a part of the key" || ok
expect "key new: no room" 4 'full.key: cannot write' bash -c \
    '(ulimit -f 0; "$0" key new full.key) 2>&1 | cat; exit ${PIPESTATUS[0]}' "$n"
[ -e full.key ] && bad "key new leaves a part of a key" || ok

# --- whoever holds a key leaves no core dump
mkfifo held
for command in "unmask --key a.key --candidates - name" "anonymize --key a.key --output out.pcapng -"; do
    (ulimit -S -c "$(ulimit -H -c)" && exec "$n" $command <held >/dev/null 2>&1) &
    pid=$!
    exec 8>held
    for try in {1..100}; do
        grep -q '^Max core file size *0 ' /proc/$pid/limits && break
        sleep 0.05
    done
    is "core dumps of ${command%% *}" \
        "$(grep -o '^Max core file size *0 ' /proc/$pid/limits | tr -s ' ')" "Max core file size 0 "
    kill -ABRT $pid
    wait $pid 2>/dev/null || true
    exec 8>&-
done

# --- every option stands in the help and the man page of its command, and the other way round
for command in policy key; do
    for sub in $("$n" $command --help | sed -n "s/^  $command \([a-z]*\) .*/\1/p"); do
        "$n" $command "$sub" --help
        grep -q "^\.B nfsdigest $command $sub" "$SRC/man/nfsdigest-$command.1" && ok ||
            bad "man page of $command: nothing of $sub"
    done >help.txt
    grep -Eo -- '--[a-z][a-z-]+' help.txt | sort -u >options.txt
    sed 's/\\-/-/g' "$SRC/man/nfsdigest-$command.1" | grep -Eo -- '--[a-z][a-z-]+' | sort -u >page.txt
    is "options of $command in help and man page" "$(comm -3 options.txt page.txt)" ""
done

# --- the man page of policy files names every class, and what each may be
python3 - "$SRC/man/nfsdigest-policy.5" "$n" <<'P' && ok || bad "man page: classes"
import re, subprocess, sys
page, n = open(sys.argv[1]).read(), sys.argv[2]
table = {}
for names, rules in re.findall(r"^([a-z_, ]+)\|([a-z, ]+)$", page, re.M):
    for name in names.split(", "):
        table[name] = sorted(rules.split(", "))
text = subprocess.run([n, "policy", "show", "public"], capture_output=True, check=True).stdout.decode()
classes = re.search(r"\[classes\]\n(.*?)\n\n", text, re.S)[1]
for line in classes.splitlines():
    name = line.split(" = ")[0]
    open("tried.conf", "w").write(text.replace("name = public", "name = tried", 1).replace(
        "\n" + line + "\n", f"\n{name} = moon\n", 1) if name != "name" else
        text.replace("name = public", "name = tried", 1).replace("\nname = token\n", "\nname = moon\n"))
    said = subprocess.run([n, "policy", "check", "./tried.conf"], capture_output=True).stderr.decode()
    assert table.pop(name) == sorted(said.strip().split("allowed is ")[1].split(", ")), (name, said)
assert not table, table
P
finish
