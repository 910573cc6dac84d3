#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compares the answers that live/net's clients of PORTMAP and RPCBIND get with those of rpcinfo.  Both ask a
# real rpcbind, in namespaces that end with this script.  Needs root, rpcbind and the build folder.
#
#     tests/lab/rpcbind.sh build
set -eu

if [ "${2-}" != inside ]; then
    exec unshare --net --mount --pid --fork --kill-child "$0" "$(realpath "$1")" inside
fi
tool=$1/bin/tests/rpc_tool
mount -t tmpfs none /run
ip link set lo up
rpcbind -f -w &
for _ in $(seq 50); do
    rpcinfo -p 127.0.0.1 >/dev/null 2>&1 && break
    sleep 0.1
done

failed=0
same() { # WHAT EXPECTED GOT
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: expected \"$2\", got \"$3\""
        failed=1
    fi
}

# a program number of our own, registered in all ways and seen by rpcinfo
for transport in "" /udp; do
    for version in 2 3 4; do
        to="portmap 127.0.0.1:111$transport $version"
        same "$to: set" "" "$("$tool" $to set 536870912 7 tcp 127.0.0.1:4711 || true)"
        same "$to: rpcinfo" "536870912 7 tcp 4711" \
            "$(rpcinfo -p 127.0.0.1 | awk '$1 == 536870912 { print $1, $2, $3, $4 }')"
        address=127.0.0.1:4711
        [ $version = 2 ] && address=0.0.0.0:4711
        # versions 3 and 4 answer for the transport of the question
        if [ $version = 2 ] || [ -z "$transport" ]; then
            same "$to: get" "$address" "$("$tool" $to get 536870912 7 tcp || true)"
        fi
        if [ $version = 2 ] || [ -n "$transport" ]; then
            same "$to: get over UDP" 1 "$("$tool" $to get 536870912 7 udp >/dev/null || echo $?)"
        fi
        same "$to: set again" 1 "$("$tool" $to set 536870912 7 tcp 127.0.0.1:4712 >/dev/null || echo $?)"
        same "$to: dump" \
            "$(rpcinfo -p 127.0.0.1 | awk 'NR > 1 { print $1, $2, $3, $4 }' | sort)" \
            "$("$tool" portmap 127.0.0.1:111$transport 2 dump | sed 's/0\.0\.0\.0://; s/ *$//' | sort)"
        same "$to: unset" "" "$("$tool" $to unset 536870912 7 tcp || true)"
        same "$to: gone" "" "$(rpcinfo -p 127.0.0.1 | awk '$1 == 536870912')"
    done
done
for version in 3 4; do
    # rpcinfo without an option lists program, version, netid, universal address, service, owner
    same "dump $version" \
        "$(rpcinfo 127.0.0.1 | awk 'NR > 1 { print $1, $2, $3, $NF }' | sort)" \
        "$("$tool" portmap 127.0.0.1:111 $version dump | awk '{ print $1, $2, $3, $NF }' | sort)"
done
exit $failed
