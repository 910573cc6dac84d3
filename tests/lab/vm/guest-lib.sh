# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a job can call, in the guest.  The server is 10.99.0.1 (fd99::1) in the guest's own network
# namespace; each client has a namespace of its own, on a bridge with the server.  A client in the
# server's namespace would use the loopback interface.

say() {
    echo "[$(cut -d' ' -f1 /proc/uptime)] $*"
}

# start_knfsd [RPC.NFSD-OPTION...]: exports /srv/exp, a tmpfs, over TCP and UDP
start_knfsd() {
    mkdir -p /srv/exp
    mount -t tmpfs -o size=1200m tmpfs /srv/exp
    chmod 1777 /srv/exp
    mount -t nfsd nfsd /proc/fs/nfsd
    rpcbind -w
    exportfs -i -o rw,no_root_squash,insecure,fsid=1,no_subtree_check,sync,no_auth_nlm '*:/srv/exp'
    rpc.statd
    rpc.nfsd -N 4 -u "$@" 8
    rpc.mountd -p 20048
    say "knfsd serves:"
    cat /proc/fs/nfsd/versions /proc/fs/nfsd/portlist
}

start_bridge() {
    ip link add br0 type bridge
    ip addr add 10.99.0.1/24 dev br0
    ip -6 addr add fd99::1/64 dev br0 nodad
    ip link set br0 up
}

# add_client N: namespace cN with 10.99.0.1N and fd99::1N on its interface e0
add_client() {
    ip netns add "c$1"
    ip link add "h$1" type veth peer name e0 netns "c$1"
    ip link set "h$1" master br0 up
    ip -n "c$1" addr add "10.99.0.1$1/24" dev e0
    ip -n "c$1" -6 addr add "fd99::1$1/64" dev e0 nodad
    ip -n "c$1" link set e0 up
    ip -n "c$1" link set lo up
}

# in_client N COMMAND...: in that client's network, but in our mounts
in_client() {
    local n=$1
    shift
    nsenter --net="/run/netns/c$n" "$@"
}

# mount_client N OPTIONS [SERVER]: at /mnt/cN
mount_client() {
    mkdir -p "/mnt/c$1"
    say "client $1: $2"
    in_client "$1" mount.nfs "${3:-10.99.0.1}:/srv/exp" "/mnt/c$1" -o "vers=3,nolock,$2"
}

# Frames as large as the interface's MTU in the capture: without segmentation offload.
no_offload() {
    local device namespace
    for device in br0 /sys/class/net/h[0-9]*; do
        ethtool -K "${device##*/}" tso off gso off gro off tx off 2>/dev/null || :
    done
    for namespace in /run/netns/*; do
        nsenter --net="$namespace" ethtool -K e0 tso off gso off gro off tx off 2>/dev/null || :
    done
}

# capture INTERFACE NAME [TCPDUMP-OPTION...]: to /out/NAME.pcap; several may run at once.  No filter:
# "port 2049" would lose the later fragments of datagrams.
captures=()
capture() {
    local interface=$1 file=/out/$2.pcap tries=200
    shift 2
    tcpdump -i "$interface" -Z root -s 262144 -B 65536 -U -w "$file" "$@" 2>"$file.log" &
    captures+=($!)
    until grep -q 'listening on' "$file.log" || [ $((tries--)) -eq 0 ]; do
        sleep 0.05
    done
}

# Ends all captures; waits before, since tcpdump sees frames up to a second late.
end_captures() {
    sleep 2
    kill -INT "${captures[@]}"
    wait "${captures[@]}"
    captures=()
    grep -h "dropped by kernel" /out/*.pcap.log
}

# workload FOLDER: every kind of operation that a client makes, and errors.  What fails is meant to.
workload() {
    mkdir -p "$1"
    (
        set +e
        cd "$1" || exit
        tar xf /files.tar
        ls -lR . >/tmp/listing
        find . -type f | head -n 20 | xargs md5sum

        mkdir -p d1/d2/d3
        echo hello >d1/f1
        cp -a d1 d1copy
        cp d1/f1 d1/d2/f2
        ln d1/f1 d1/hard
        ln -s ../f1 d1/d2/sym
        ln -s /nonexistent d1/dangling
        ls -l d1/d2
        cat d1/d2/sym
        readlink d1/dangling
        mv d1/f1 d1/f1.renamed
        mv d1/f1.renamed d1/d2/moved
        mv d1/d2 d2moved
        mv -f d1copy/f1 d1/hard

        chmod 600 d1/hard
        chown 1000:1000 d1/hard
        touch -d '2001-02-03 04:05:06.789' d1/hard
        touch d1/hard
        truncate -s 12345 d1/hard
        truncate -s 0 d1/hard
        mkfifo d1/fifo
        mknod d1/chr c 1 3
        mknod d1/blk b 7 0

        dd if=/dev/urandom of=big1 bs=64k count=32
        dd if=big1 of=/dev/null bs=128k iflag=direct
        dd if=/dev/zero of=big1 bs=4k count=8 seek=5 conv=notrunc,fsync
        cp big1 big2
        cmp big1 big2
        sync

        cat nosuchfile
        mkdir d1
        rmdir d1
        rm nosuchfile
        touch "$(printf 'x%.0s' {1..255})" "$(printf 'y%.0s' {1..256})"
        touch 'name with spaces' 'üñí¢ødé-名前' $'new\nline'

        mkdir many
        for i in {1..300}; do
            echo "$i" >"many/file-number-$i"
        done
        ls many
        ls -l many
        for i in {1..300..2}; do
            rm "many/file-number-$i"
        done
        df .
        setpriv --reuid 1001 --regid 1001 --clear-groups sh -c 'cat d1/hard; echo x >d1/denied'
        rm -rf usr many d1 d2moved d1copy
        ls -la
    ) >/dev/null 2>&1
}
