#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cmake/hardening.cmake asks for is in what was built, the program and the plugins.
# ctest: plugin
set -eu
failed=0

# has WHAT FILE PATTERN COMMAND...: the command's output has a line of that pattern
has() {
    local what=$1 file=$2 pattern=$3
    shift 3
    if "$@" "$file" | grep -E "$pattern" >/dev/null; then
        return
    fi
    echo "$file: no $what"
    failed=1
}

files=("$NFSDIGEST" "$PLUGIN_DIR"/*/epan/nfspair.so "$PLUGIN_DIR"/*/epan/nfsanon.so)
for file in "${files[@]}"; do
    has "position-independent code" "$file" 'Type:.*DYN' readelf -h
    has "read-only relocations" "$file" 'GNU_RELRO' readelf -lW
    has "binding at start" "$file" 'FLAGS.*(BIND_NOW|NOW)' readelf -dW
    has "stack protector" "$file" '__stack_chk_fail' nm -D
    has "checked calls of libc" "$file" '__(memcpy|snprintf|vsnprintf|memset)_chk' nm -D
    if [ "$(uname -m)" = x86_64 ]; then
        has "landing pads for indirect calls" "$file" 'endbr64' objdump -d
    fi
done
if readelf -lW "${files[@]}" | grep -E 'GNU_STACK.*E'; then
    echo "a stack can be executed"
    failed=1
fi
exit $failed
