# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by the tests of what recording in tshark does when something is wrong: captures, and for each
# run its exit status, its message, and what it leaves behind.
#
#     begin NAME; run CAPTURE OPTION...; wants STATUS PATTERN; leaves [NAMES]; end

: "${BUILD:?the build folder}" "${CAPTURES:?the directory of captures}" "${NFSDIGEST:?the program}"
tshark=$BUILD/bin/tshark
scratch=$(mktemp -d)
chmod 777 "$scratch"
tries=0 failed=0
trap 'rm -rf "$scratch"' EXIT

zstd -q -d "$CAPTURES/vfs-libnfs-all22.pcap.zst" -o "$scratch/small.pcap" || exit 1
zstd -q -d "$CAPTURES/pair-knfsd.pcap.zst" -o "$scratch/large.pcap" || exit 1
head -c 100000 "$scratch/small.pcap" >"$scratch/cut.pcap"
echo "this is no capture, but it is long enough to look at" >"$scratch/text.pcap"
chmod a+r "$scratch"/*.pcap

# fail WHAT: the test that runs has failed
fail() {
    echo "FAILED $name: $1"
    sed 's/^/    /' "$scratch/stderr"
    ok=false
}

begin() { # NAME
    name=$1 ok=true
    tries=$((tries + 1))
    rm -rf "$scratch"/out*
}

end() {
    if $ok; then
        echo "ok $name"
    else
        failed=$((failed + 1))
    fi
}

# run CAPTURE OPTION...: one run, into $status and $scratch/stderr
run() {
    local capture=$1
    shift
    "$tshark" -q -r "$scratch/$capture" "$@" >"$scratch/stdout" 2>"$scratch/stderr"
    status=$?
}

wants() { # STATUS PATTERN
    [ "$status" -eq "$1" ] || fail "exit $status, not $1"
    grep -q -- "$2" "$scratch/stderr" || fail "no message like: $2"
}

leaves() { # NAMES
    local left
    left=$(cd "$scratch" && find . -maxdepth 1 -name 'out*' -printf '%f ')
    [ "$left" = "${1:+$1 }" ] || fail "there is: $left"
}
