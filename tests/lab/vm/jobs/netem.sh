# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-netem-tcp, knfsd-netem-udp: loss, reordering and duplicates on the path (the second needs
# NFS_KO).  The capture is taken between the two faulty halves, so that it shows repeats.
start_bridge
start_knfsd
add_client 1
add_client 2
no_offload
for device in h1 e0; do
    in_net=()
    [ $device = h1 ] || in_net=(in_client 1)
    "${in_net[@]}" tc qdisc add dev $device root netem \
        delay 2ms 1ms loss 2% reorder 5% 50% duplicate 1%
done
tc qdisc add dev h2 root netem delay 1ms loss 3% duplicate 1%
in_client 2 tc qdisc add dev e0 root netem delay 1ms 1ms loss 3% duplicate 1%

capture br0 knfsd-netem-tcp
mount_client 1 proto=tcp,rsize=32768,wsize=32768
timeout 150 smallfiles /mnt/c1/p 150 300 1 || say "not finished in time"
dd if=/dev/zero of=/mnt/c1/z bs=64k count=32
umount /mnt/c1
end_captures

capture br0 knfsd-netem-udp
mount_client 2 proto=udp,timeo=5,rsize=4096,wsize=4096
timeout 150 smallfiles /mnt/c2/p 80 150 1 || say "not finished in time"
ls -lR /mnt/c2
dd if=/dev/zero of=/mnt/c2/z bs=64k count=8
umount -l /mnt/c2
end_captures
