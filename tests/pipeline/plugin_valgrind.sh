#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 plugin slow cost=60 long=--every
#
# The plugins under valgrind, nfspair's record and tree mode and nfsanon: no error and no leak with
# their code in its stack.
# libwireshark's own are not ours to judge, which is why the reports are searched for our object
# file instead of taking valgrind's exit status.  --every: more frames.
set -u

: "${BUILD:?the build folder}" "${CAPTURES:?the directory of captures}" "${NFSDIGEST:?the program}"
scratch=$(mktemp -d)
chmod 777 "$scratch"
trap 'rm -rf "$scratch"' EXIT
tries=0 failed=0

# Wireshark's own allocator off: each of its blocks is one of malloc, as valgrind wants them
export WIRESHARK_DEBUG_WMEM_OVERRIDE=simple G_SLICE=always-malloc

# Debian 12's valgrind cannot read what clang writes for debuggers: then the symbols alone must do
plugins=$BUILD/plugins
for plugin in nfspair nfsanon; do
    plugin=$(echo "$BUILD"/plugins/*/epan/$plugin.so)
    [ -f "$plugin" ] || { echo "no $plugin"; exit 1; }
    if readelf -p .comment "$plugin" | grep -q clang; then
        plugins=$scratch/plugins
        folder=$plugins/$(basename "$(dirname "$(dirname "$plugin")")")/epan
        mkdir -p "$folder"
        objcopy --strip-debug "$plugin" "$folder/$(basename "$plugin")" || exit 1
    fi
done

# program NAME: the program itself; the shell may have build/env.sh's wrapper in its PATH, a script,
# and valgrind would watch that until it becomes the program
program() {
    local path
    while read -r path; do
        if [ "$(head -c 4 "$path" | tail -c 3)" = ELF ]; then
            echo "$path"
            return
        fi
    done < <(type -aP "$1")
    echo "no program $1" >&2
    return 1
}

# ours FILE: reports of errors that have a plugin of ours in their stack
ours() {
    python3 - "$1" <<'END'
import sys, xml.etree.ElementTree as xml
bad = 0
for error in xml.parse(sys.argv[1]).getroot().iter("error"):
    frames = [(f.findtext("fn") or f.findtext("ip"), f.findtext("obj") or "") for f in error.iter("frame")]
    if any(obj.endswith(("/nfspair.so", "/nfsanon.so")) for _, obj in frames):
        bad += 1
        text = error.findtext("what") or error.findtext("xwhat/text")
        print("    %s: %s" % (error.findtext("kind"), text))
        for name, obj in frames[:12]:
            print("        %s (%s)" % (name, obj.rsplit("/", 1)[-1]))
print("    %d errors of ours" % bad)
sys.exit(bad > 0)
END
}

# check NAME PROGRAM ARGUMENT...
check() {
    local name=$1 verdict=ok status
    shift
    tries=$((tries + 1))
    "$BUILD/bin/with-plugins" env WIRESHARK_PLUGIN_DIR="$plugins" valgrind --tool=memcheck --leak-check=full --show-leak-kinds=definite,indirect,possible \
        --num-callers=40 --keep-debuginfo=yes --xml=yes --xml-file="$scratch/report.xml" \
        "$@" >"$scratch/stdout" 2>"$scratch/stderr" <"${input:-/dev/null}"
    status=$?
    if [ "$status" -ne "$wanted" ]; then
        verdict=FAILED
        echo "    exit $status, not $wanted"
        tail -3 "$scratch/stderr"
    fi
    if ! ours "$scratch/report.xml" >"$scratch/errors"; then
        verdict=FAILED
        cat "$scratch/errors"
    fi
    if ! grep -q "${shows:-.}" "$scratch/stdout" && [ -n "${shows:-}" ]; then
        verdict=FAILED
        echo "    the output lacks $shows: did the plugin run?"
    fi
    [ $verdict = ok ] || failed=$((failed + 1))
    echo "$verdict $name"
}

# the first frames of each kind of traffic, one after the other: valgrind takes its time
divide=3
[ "${1:-}" != --every ] || divide=1
parts=
while read -r name frames all; do
    [ -n "$all" ] || frames=$((frames / divide))
    zstd -q -d "$CAPTURES/$name.zst" -o "$scratch/whole" || exit 1
    "$BUILD/bin/with-plugins" editcap -r "$scratch/whole" "$scratch/$name" "1-$frames" || exit 1
    rm -f "$scratch/whole"
    parts="$parts $scratch/$name"
done <<END
vfs-libnfs-all22.pcap 412 all
knfsd-netem-udp.pcap 400
knfsd-netem-tcp.pcap 400
knfsd-udp-frag.pcap 300
knfsd-snap256.pcap 300
END
capture=$scratch/all.pcap
"$BUILD/bin/with-plugins" mergecap -a -F nsecpcap -w "$capture" $parts || exit 1
chmod -R a+rX "$scratch"
tshark=$(program tshark) && sharkd=$(program sharkd) || exit 1

wanted=0 shows=
check "record" "$tshark" -r "$capture" -q -z "nfspair,out=$scratch/out"
check "record, decap=wireshark, two passes" "$tshark" -2 -r "$capture" -q \
    -z "nfspair,out=$scratch/out,decap=wireshark"
shows='NFS Pair'
check "tree" "$tshark" -r "$capture" -O nfspair -V
shows=/
# the filter throws frames away in the first pass: their numbers come again
check "two passes, read filter" "$tshark" -2 -R 'rpc or ip.flags.mf' -r "$capture" \
    -Y nfspair.path -T fields -e nfspair.operation -e nfspair.path -e nfspair.latency

# owned by whom the plugins' tshark runs as
anon=key=$scratch/key,force,out=$scratch/anon
"$BUILD/bin/with-plugins" "$NFSDIGEST" key new "$scratch/key" >/dev/null || exit 1
shows=
check "anonymize" "$tshark" -r "$capture" -q -z "nfsanon,policy=lab,$anon"
check "anonymize, decap=wireshark, and record" "$tshark" -2 -r "$capture" -q \
    -z "nfsanon,decap=wireshark,$anon" -z "nfspair,out=$scratch/out"

wanted=2 shows=
check "a wrong option" "$tshark" -r "$capture" -q -z nfspair,out=
check "a file that exists" "$tshark" -r "$capture" -q -z "nfsanon,key=$scratch/key,out=$capture"
wanted=4
check "a full disk" "$tshark" -r "$capture" -q -z nfspair,out=/dev/full
check "a full disk for the anonymized" "$tshark" -r "$capture" -q \
    -z "nfsanon,key=$scratch/key,out=/dev/full"

# random access; the file is loaded twice, so that a capture is forgotten as well
{
    for _ in 1 2; do
        printf '{"jsonrpc":"2.0","id":1,"method":"load","params":{"file":"%s"}}\n' \
            "$capture"
        for frame in 200 3 800 57 200 600; do
            printf '{"jsonrpc":"2.0","id":2,"method":"frame","params":{"frame":%d,"proto":true}}\n' $frame
        done
    done
} >"$scratch/requests"
wanted=0 shows='NFS Pair'
input=$scratch/requests
check "random access" "$sharkd" -

echo "$tries tries, $failed failed"
[ "$failed" -eq 0 ] && [ "$tries" -ge 11 ]
