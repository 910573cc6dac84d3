# SPDX-License-Identifier: GPL-2.0-or-later
# knfsd-multi6: six clients with different options at once: several connections, UDP (with NFS_KO),
# small transfers, IPv6, no READDIRPLUS
start_bridge
start_knfsd
for n in 1 2 3 4 5 6; do
    add_client $n
done
capture br0 knfsd-multi6
mount_client 1 proto=tcp
mount_client 2 proto=tcp,nconnect=4
mount_client 3 proto=udp || mount_client 3 proto=tcp
mount_client 4 proto=tcp,rsize=8192,wsize=8192,sync
mount_client 5 proto=tcp6,noac '[fd99::1]'
mount_client 6 proto=tcp,nordirplus
for n in 1 2 4; do
    workload "/mnt/c$n/w$n" &
    clients+=($!)
done
for n in 3 5 6; do
    smallfiles "/mnt/c$n/p$n" 150 400 $n &
    clients+=($!)
done
wait "${clients[@]}"
ls -lR /mnt/c6 >/tmp/listing
umount /mnt/c?
end_captures
