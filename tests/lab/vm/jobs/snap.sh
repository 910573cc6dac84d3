# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-snap256 and others: one run seen by captures of several kinds at once (needs NFS_KO)
start_bridge
start_knfsd
add_client 1
add_client 2
capture br0 knfsd-snap96 -s 96
capture br0 knfsd-snap256 -s 256
capture br0 knfsd-snapfull
capture any knfsd-any-sll2-nano --time-stamp-precision=nano
capture any knfsd-any-sll-snap200 -s 200 -y LINUX_SLL
mount_client 1 proto=tcp
mount_client 2 proto=udp
workload /mnt/c1/w
smallfiles /mnt/c2/p 60 100 1
umount /mnt/c1 /mnt/c2
end_captures
