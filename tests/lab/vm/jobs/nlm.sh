# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-nlm-locks: two clients that lock one file.  Each has its own rpcbind and statd; the server's
# grace period is cut from 90 seconds to 10.
start_bridge
start_knfsd -G 10 -L 10
add_client 1
add_client 2
capture br0 knfsd-nlm-locks
lock_client() { # N, in its network and mount namespaces
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /var/lib/nfs
    mkdir -p /run/rpcbind "/mnt/c$1" /var/lib/nfs/sm /var/lib/nfs/sm.bak
    touch /var/lib/nfs/state
    chown -R 102 /var/lib/nfs/sm /var/lib/nfs/sm.bak /var/lib/nfs/state
    rpcbind -w
    rpc.statd --no-notify
    mount.nfs 10.99.0.1:/srv/exp "/mnt/c$1" -o vers=3,proto=tcp,lock
    sleep 12
    touch "/mnt/c$1/l"
    for _ in 1 2 3; do
        timeout 20 flock "/mnt/c$1/l" sleep 1 && echo "client $1: locked"
    done
    timeout 20 flock -s "/mnt/c$1/l" true
    timeout 20 flock -n "/mnt/c$1/l" true || echo "client $1: held by the other"
    umount "/mnt/c$1"
}
export -f lock_client
for n in 1 2; do
    in_client $n unshare -m bash -c "lock_client $n" &
    clients+=($!)
done
wait "${clients[@]}"
end_captures
