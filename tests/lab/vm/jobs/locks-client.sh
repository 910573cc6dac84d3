# SPDX-License-Identifier: GPL-2.0-or-later
# The clients of locks.sh, c1 and c2: they lock one file through the relay that /out/parameters names.  Each
# has its own rpcbind and statd.
. /out/parameters
ip link add br0 type bridge
ip link set br0 up
ip link set eth0 master br0 up
for n in 1 2; do
    ip netns add "c$n"
    ip link add "h$n" type veth peer name e0 netns "c$n"
    ip link set "h$n" master br0 up
    ip -n "c$n" addr add "10.99.0.1$n/24" dev e0
    ip -n "c$n" link set e0 up
    ip -n "c$n" link set lo up
    ip -n "c$n" route add default via "$RELAY" # the server calls back
done

lock_client() { # N, in its network and mount namespaces
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /var/lib/nfs
    mkdir -p /run/rpcbind "/mnt/c$1" /var/lib/nfs/sm /var/lib/nfs/sm.bak
    touch /var/lib/nfs/state
    chown -R 102 /var/lib/nfs/sm /var/lib/nfs/sm.bak /var/lib/nfs/state
    rpcbind -w
    rpc.statd --no-notify
    mount.nfs "$RELAY:/srv/exp" "/mnt/c$1" -o vers=3,proto=tcp,lock || return 1
    sleep 12 # the server's grace period
    touch "/mnt/c$1/l"
    if [ "$1" = 1 ]; then
        timeout 60 flock "/mnt/c1/l" sh -c 'touch /tmp/held; sleep 8; cut -d" " -f1 /proc/uptime >/tmp/given' ||
            return 1
        sleep 3
    else
        until [ -e /tmp/held ]; do
            sleep 0.1
        done
        sleep 1
        ! timeout 20 flock -n "/mnt/c2/l" true || return 1
        echo "client 2: held by the other" | tee /dev/console
        timeout 80 flock "/mnt/c2/l" cut -d' ' -f1 /proc/uptime >/tmp/got || return 1
        echo "client 2: locked at $(cat /tmp/got), which client 1 gave at $(cat /tmp/given)" | tee /dev/console
    fi
    umount "/mnt/c$1"
}
export -f lock_client
export RELAY
clients=()
for n in 1 2; do
    in_client $n unshare -m bash -c "lock_client $n" &
    clients+=($!)
done
for client in "${clients[@]}"; do
    wait "$client"
done
