# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-vlan, knfsd-ipv6-tcp and, with NFS_KO, knfsd-ipv6-udp-frag
start_bridge
start_knfsd
add_client 1
ip link add link br0 name br0.7 type vlan id 7
ip addr add 10.77.0.1/24 dev br0.7
ip link set br0.7 up
in_client 1 ip link add link e0 name e0.7 type vlan id 7
in_client 1 ip addr add 10.77.0.2/24 dev e0.7
in_client 1 ip link set e0.7 up

capture br0 knfsd-vlan
mount_client 1 proto=tcp 10.77.0.1
workload /mnt/c1/w
umount /mnt/c1
end_captures

capture br0 knfsd-ipv6-tcp
mount_client 1 proto=tcp6 '[fd99::1]'
workload /mnt/c1/w
umount /mnt/c1
end_captures

no_offload
capture br0 knfsd-ipv6-udp-frag
if mount_client 1 proto=udp6 '[fd99::1]'; then
    workload /mnt/c1/w6
    umount /mnt/c1
fi
end_captures
