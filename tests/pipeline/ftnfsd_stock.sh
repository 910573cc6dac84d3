#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300
#
# Stock clients on ftnfsd: rpcinfo asks its PORTMAP and RPCBIND, libnfs's programs find it by them, list,
# copy in and out, and Wireshark's dissectors find nothing malformed in its own record.  In a network
# namespace of this test's own, since rpcinfo asks port 111 only.
set -eu
. "$(dirname "$0")/store_lib.sh"

if [ "${1-}" != inside ]; then
    if ! unshare -Urn true 2>/dev/null; then
        echo "NOT RUN: this system allows no user namespaces"
        exit 77
    fi
    exec unshare -Urn "$0" inside
fi
ip link set lo up
cd "$scratch"
mkdir -p tree/folder
head -c 3000000 /dev/urandom >tree/large
echo small >tree/folder/small
ln -s folder/small tree/link
ln tree/large tree/folder/again
truncate -s 100M tree/sparse

"$BUILD/bin/ftnfsd" --memory --export /a=tree --export /empty --portmap 111 --mount-port 20048 \
    --record served.nfsr --for 120s >log &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 50); do
    grep -q '^nfs://.*/empty' log && break
    sleep 0.1
done

expect() { # WHAT FOUND WANTED
    if [ "$2" != "$3" ]; then
        printf '%s: "%s", not "%s"\n' "$1" "$2" "$3"
        exit 1
    fi
}

rpcinfo -p 127.0.0.1 | awk 'NR > 1 { print $1, $2, $3, $4 }' | sort >ports
for line in '100003 3 tcp 2049' '100003 3 udp 2049' '100005 1 tcp 20048' '100005 3 udp 20048' \
    '100227 3 tcp 2049' '100000 2 udp 111' '100000 4 tcp 111'; do
    grep -qx "$line" ports || { echo "rpcinfo -p: no \"$line\""; cat ports; exit 1; }
done
expect "rpcinfo -s" "$(rpcinfo -s 127.0.0.1 | awk '$1 == 100005 { print $2 }')" 3,2,1
expect "rpcinfo, IPv6" "$(rpcinfo ::1 | awk '$1 == 100003 && $3 == "tcp6" { print $4 }')" ::1.8.1
for transport in tcp udp; do
    rpcinfo -T $transport 127.0.0.1 100003 3 >/dev/null
    rpcinfo -T ${transport}6 ::1 100005 3 >/dev/null
done
if rpcinfo -T tcp 127.0.0.1 100003 4 >/dev/null 2>&1; then
    echo "NFS version 4 is told to be there"
    exit 1
fi

# without ports in the address: libnfs asks
expect "nfs-ls" "$(nfs-ls nfs://127.0.0.1/a | awk '{ print $5, $6 }' | sort | tr '\n' ';')" \
    "$(stat -c '%s %n' tree/large tree/link tree/sparse | sed 's,tree/,,' |
        cat - <(nfs-ls nfs://127.0.0.1/a | awk '$6 == "folder" { print $5, $6 }') | sort | tr '\n' ';')"
expect "links" "$(nfs-ls nfs://127.0.0.1/a | awk '$6 == "large" { print $2 }')" 2
nfs-cat nfs://127.0.0.1/a/large | cmp - tree/large
nfs-cat nfs://127.0.0.1/a/folder/again | cmp - tree/large
nfs-cat nfs://127.0.0.1/a/sparse | cmp - tree/sparse
nfs-cp tree/large nfs://127.0.0.1/empty/copied >/dev/null
nfs-cat nfs://127.0.0.1/empty/copied | cmp - tree/large
if nfs-ls nfs://127.0.0.1/nothing >/dev/null 2>&1; then
    echo "an export that is not there was mounted"
    exit 1
fi

kill "$pid"
wait "$pid"

# who root is at an address that others reach, and which one is told for all
ip address add 10.1.1.1/32 dev lo
ip route add 192.0.2.0/24 dev lo src 10.1.1.1
"$BUILD/bin/ftnfsd" --memory --listen 0.0.0.0 --port 0 --for 120s --export /a \
    --export '/b(no_root_squash)' --export '/c(all_squash,anonuid=7,anongid=8)' >wide &
pid=$!
for _ in $(seq 50); do
    grep -q '^nfs://.*/c' wide && break
    sleep 0.1
done
expect "addresses" "$(sed -n 's,^nfs://\(.*\)?.*,\1,p' wide | tr '\n' ' ')" "10.1.1.1/a 10.1.1.1/b 10.1.1.1/c "
for export in a b c; do
    url=$(grep "^nfs://.*/$export?" wide)
    nfs-cp tree/folder/small "${url/?nfsport//small?nfsport}" >/dev/null
    nfs-ls "$url" | awk '{ print $3 ":" $4 }'
done >owners
expect "owners of what root made" "$(tr '\n' ' ' <owners)" "65534:65534 0:0 7:8 "
kill "$pid"
wait "$pid"
grep -q ' calls, .* 0 messages that are no calls$' log
"$NFSDIGEST" check served.nfsr >/dev/null
