# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-tcp-mtu1500: TCP, frames of the MTU's size
start_bridge
start_knfsd
add_client 1
no_offload
capture br0 knfsd-tcp-mtu1500
mount_client 1 proto=tcp,rsize=65536,wsize=65536
workload /mnt/c1/w
umount /mnt/c1
end_captures
