# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-udp-frag and knfsd-udp-1k: UDP in IP fragments, and in single frames (needs NFS_KO)
start_bridge
start_knfsd
add_client 1
no_offload
capture br0 knfsd-udp-frag
mount_client 1 proto=udp
workload /mnt/c1/w
umount /mnt/c1
end_captures
capture br0 knfsd-udp-1k
mount_client 1 proto=udp,rsize=1024,wsize=1024
workload /mnt/c1/w2
umount /mnt/c1
end_captures
