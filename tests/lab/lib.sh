# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by the lab's scripts (bash).

lab=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# need PROGRAM...: ends with a message if a program is missing
need() {
    local program missing=()
    for program; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing+=("$program")
    done
    [ ${#missing[@]} -eq 0 ] || die "not installed: ${missing[*]} (packages: see $lab/README.md)"
}

as_root_only() {
    [ "$(id -u)" -eq 0 ] || die "needs root"
}

# wait_for SECONDS COMMAND...: waits until the command succeeds
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.02
    done
}

# capture_start INTERFACE FILE [TCPDUMP-OPTION...]: returns when tcpdump captures.
# No filter by default: "port 2049" would lose the later fragments of datagrams.
capture_start() {
    local interface=$1 file=$2
    shift 2
    capture_log=$file.log
    tcpdump -i "$interface" -Z root -s 262144 -B 65536 --immediate-mode -w "$file" "$@" \
        2>"$capture_log" &
    capture_pid=$!
    wait_for 10 grep -q 'listening on' "$capture_log" ||
        die "tcpdump does not capture: $(cat "$capture_log")"
}

# Ends the capture.  Fails if the kernel dropped a frame, because it would look like a loss on the wire.
capture_stop() {
    sleep 0.3
    kill -INT "$capture_pid"
    wait "$capture_pid"
    grep -q '^0 packets dropped by kernel' "$capture_log" ||
        die "the capture is incomplete: $(tail -n 3 "$capture_log")"
    rm -f "$capture_log"
}

# build_client NAME FOLDER: compiles NAME.c of this folder against libnfs
build_client() {
    ${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -Wno-missing-field-initializers -I"$lab" \
        -o "$2/$1" "$lab/$1.c" "$lab/client.c" -lnfs || die "$1 does not compile"
}
