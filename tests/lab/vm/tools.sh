#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools.sh WORK PROGRAM...
#
# Makes WORK/tools.img, a file system for a guest in which programs run by chroot: git, gcc, make and
# what they need, as they are installed here, each PROGRAM, workloads.sh, and in /src what it works
# on.  WORK is that of vm.sh, which must have run once.  PACKAGES="NAME..." are further packages.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

[ $# -ge 1 ] && [ -e "$1/tree/complete" ] || die "usage: tools.sh WORK PROGRAM... (after vm.sh WORK ...)"
need apt-cache dpkg-query git gcc make ldconfig
work=$(cd "$1" && pwd)
shift
packages="bash coreutils dash diffutils findutils gcc git grep libc6-dev libxxhash-dev make sed tar
    ${PACKAGES-}"
root=$(mktemp -d "$work/tools.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

# The files of these packages and of those that they depend on, into a tree in which /bin and /lib
# are in /usr.
copy_packages() {
    local folder file
    mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,dev,proc,tmp,mnt,out,etc,run,src}
    for folder in bin sbin lib lib64; do
        ln -s "usr/$folder" "$root/$folder"
    done
    # shellcheck disable=SC2086 # they are words
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts \
        --no-breaks --no-replaces --no-enhances $packages | grep '^[a-z]' | sort -u |
        comm -12 - <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u) |
        xargs dpkg-query -L | sort -u | while read -r file; do
        case $file in
        /bin | /sbin | /lib | /lib64 | /usr/share/doc/* | /usr/share/man/* | /usr/share/locale/*) ;;
        *) if [ -L "$file" ] || [ -f "$file" ]; then echo "${file#/}"; fi ;;
        esac
    done | tar -C / -cf - -T - --transform 's,^\(s\?bin\|lib\|lib64\)/,usr/\1/,S' |
        tar -C "$root" -xf -
    printf 'root:x:0:0:root:/tmp:/bin/bash\n' >"$root/etc/passwd"
}

copy_program() {
    local library
    cp -L "$1" "$root/usr/bin/"
    for library in $(ldd "$1" | grep -o '/[^ ]*'); do
        [ -e "$root/$library" ] || cp -L "$library" "$root/$library"
    done
}

# Some of our own sources, and the part of our history that concerns them.
copy_sources() {
    local repository=$root/src/repository.git here=$lab/../.. branch
    mkdir "$root/src/tree"
    git -C "$here" archive HEAD LICENSE docs engine live tests/lab | tar -C "$root/src/tree" -xf -
    git init -q --bare "$repository"
    git -C "$here" fast-export HEAD -- live | git -C "$repository" fast-import --quiet
    branch=$(git -C "$repository" for-each-ref --format='%(refname)' | head -n 1)
    git -C "$repository" symbolic-ref HEAD "$branch"
    git -C "$repository" gc -q
}

copy_packages
for program; do
    copy_program "$program"
done
${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -o "$root/usr/bin/randomio" "$lab/randomio.c"
cp "$lab/vm/workloads.sh" "$root/usr/bin/workloads.sh"
copy_sources
ldconfig -r "$root"
# whether all is there that the sources need: sooner than in the guest
chroot "$root" /usr/bin/env SCRATCH=/out workloads.sh compile /tmp ||
    die "workloads.sh compile fails in the new file system: what it needs belongs into \$packages"
rm -rf "$root"/tmp/* "$root"/out/* "$root/dev/null"
rm -f "$work/tools.img"
"$work/tree/sbin/mke2fs" -q -t ext4 -O ^has_journal -d "$root" "$work/tools.img" 640M
ls -lhs "$work/tools.img"
