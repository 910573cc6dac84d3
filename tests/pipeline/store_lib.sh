# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by the tests of ingest and the database. A test ends with "finish".

: "${NFSDIGEST:?the program to test}" "${CAPTURES:?the directory of captures}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0 passed=0

ok() {
    passed=$((passed + 1))
}

bad() {
    failed=$((failed + 1))
    echo "FAILED $*"
}

# is NAME FOUND EXPECTED
is() {
    if [ "$2" = "$3" ]; then
        ok
    else
        bad "$1: \"$(echo "$2" | head -c 300)\", not \"$(echo "$3" | head -c 300)\""
    fi
}

# expect NAME EXIT PATTERN COMMAND...: runs it, and looks for the extended regular expression in all that
# it says ("-": it must say nothing).
expect() {
    e_name=$1 e_code=$2 e_pattern=$3
    shift 3
    e_got=0
    "$@" >"$scratch/said" 2>&1 </dev/null || e_got=$?
    if [ "$e_got" -ne "$e_code" ]; then
        bad "$e_name: exit code $e_got, not $e_code: $(head -c 300 "$scratch/said")"
    elif [ "$e_pattern" = - ] && [ -s "$scratch/said" ]; then
        bad "$e_name: says $(head -c 300 "$scratch/said")"
    elif [ "$e_pattern" != - ] && ! grep -Eq -- "$e_pattern" "$scratch/said"; then
        bad "$e_name: \"$e_pattern\" is not in: $(head -c 300 "$scratch/said")"
    else
        ok
    fi
}

# sql DATABASE QUERY
sql() {
    sqlite3 -readonly "$1" "$2"
}

# The capture NAME, decompressed: prints the path.
capture() {
    for path in "$CAPTURES/$1".pcap*; do
        case $path in
            *.zst) zstd -dqf "$path" -o "$scratch/$1.pcap" ;;
            *) cp "$path" "$scratch/$1.pcap" ;;
        esac
    done
    [ -s "$scratch/$1.pcap" ] || { echo "no capture $1 in $CAPTURES" >&2; exit 1; }
    echo "$scratch/$1.pcap"
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
