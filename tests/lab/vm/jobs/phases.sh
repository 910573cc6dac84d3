# SPDX-License-Identifier: GPL-2.0-or-later
# The three workloads of phases.py on knfsd and ftnfsd, mounted with sync, and on sshfs (run by vm/phases.sh):
# /out/NAME has the times of the client, /out/NAME.pcap the traffic.  All three servers store in a tmpfs.
. /out/parameters
tools=/tools

mount_tools() {
    mkdir -p "$tools"
    mount -o ro /dev/vdb "$tools"
    for folder in mnt tmp run; do
        mount -t tmpfs tmpfs "$tools/$folder"
    done
    for folder in proc dev; do
        mount --bind "/$folder" "$tools/$folder"
    done
    mkdir -p "$tools"/mnt/{knfsd,ftnfsd,sshfs,stored} "$tools/run/sshd"
}

start_ftnfsd() {
    chroot "$tools" ftnfsd --memory --listen 10.99.0.1 --port 2050 --export '/srv(no_root_squash)' \
        --control /run/ftnfsd.sock >/out/ftnfsd.log 2>&1 &
    until chroot "$tools" ftnfsd ctl /run/ftnfsd.sock help >/dev/null 2>&1; do
        sleep 0.1
    done
}

# With keys that only this machine has
start_sshd() {
    printf '%s\n' 'root:x:0:0:root:/tmp:/bin/bash' 'sshd:x:103:65534::/run/sshd:/bin/false' >/tmp/passwd
    mount --bind /tmp/passwd "$tools/etc/passwd"
    for key in host user; do
        chroot "$tools" ssh-keygen -q -t ed25519 -N '' -f "/tmp/$key"
    done
    chroot "$tools" /usr/sbin/sshd -f /dev/null -h /tmp/host -E /tmp/sshd.log -o ListenAddress=10.99.0.1 \
        -o UsePAM=no -o StrictModes=no -o PermitRootLogin=yes -o AuthorizedKeysFile=/tmp/user.pub \
        -o PidFile=/tmp/sshd.pid -o 'Subsystem=sftp internal-sftp'
}

mount_from_client() { # SYSTEM
    case $1 in
    knfsd)
        in_client 1 mount.nfs 10.99.0.1:/srv/exp "$tools/mnt/knfsd" -o vers=3,nolock,proto=tcp,sync
        ;;
    ftnfsd)
        in_client 1 mount.nfs 10.99.0.1:/srv "$tools/mnt/ftnfsd" -o \
            vers=3,nolock,proto=tcp,port=2050,mountproto=tcp,mountport=2050,sync
        ;;
    sshfs) # sshfs_sync: as the option sync of NFS, each write waits for its answer
        in_client 1 chroot "$tools" sshfs root@10.99.0.1:/mnt/stored /mnt/sshfs -o \
            IdentityFile=/tmp/user,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,sshfs_sync ||
            {
                cat "$tools/tmp/sshd.log"
                return 1
            }
        ;;
    esac
    grep -E ' (nfs|fuse.sshfs) ' /proc/mounts
}

mount_tools
start_bridge
add_client 1
start_knfsd
start_ftnfsd
start_sshd
for system in knfsd ftnfsd sshfs; do
    capture br0 "$system" # also of MOUNT, which says what the roots are
    mount_from_client "$system"
    say "$system" | tee /dev/console
    in_client 1 chroot "$tools" python3 /usr/bin/phases.py "/mnt/$system" "$SCALE" | tee "/out/$system"
    umount "$tools/mnt/$system"
    end_captures
done
