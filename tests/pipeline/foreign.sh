#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# foreign.sh [ARCHITECTURE...]
#
# nfsdigest on other machines: built for a big-endian one (s390x) and one of 32 bits (i386), and run by qemu, it
# writes the same record streams, anonymized captures and databases as here, byte by byte.  What waits between two
# captures of a database is only for machines of one kind: others begin pairing again, and say so.
#
# Needs gcc-s390x-linux-gnu, gcc-i686-linux-gnu, libc6-dev-s390x-cross, libc6-dev-i386-cross, qemu-user and
# mmdebstrap, and the network for the libraries of those machines.  KEPT: a folder for these, to be used again.
# ctest: long
set -eu
: "${BUILD:?the build folder}" "${SRC:?the source}"

declare -A compiler=([s390x]=s390x-linux-gnu-gcc [i386]=i686-linux-gnu-gcc)
declare -A emulator=([s390x]=qemu-s390x [i386]=qemu-i386)
libraries=libc6-dev,libpcap-dev,libsqlite3-dev,libzstd-dev,zlib1g-dev,libarchive-dev,libgcrypt20-dev
libraries+=,libglib2.0-dev,libxxhash-dev,libmicrohttpd-dev,libsodium-dev
here=$BUILD/bin/nfsdigest
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
kept=${KEPT:-$scratch}
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

# Makes the tree of libraries, and builds.
build_for() { # ARCHITECTURE
    local tree=$kept/$1 mirror
    mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' |
        sed -n 's/^Debian Debian //p' | head -n 1)
    if [ ! -d "$tree" ]; then
        mmdebstrap --variant=extract --architectures="$1" --include="$libraries" \
            --aptopt='Acquire::Check-Valid-Until "false"' \
            "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$tree.part" "$mirror"
        mv "$tree.part" "$tree"
    fi
    cat >"$scratch/$1.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $1)
set(CMAKE_C_COMPILER ${compiler[$1]})
set(CMAKE_SYSROOT $tree)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
file(GLOB PLACES $tree/usr/lib/*/pkgconfig)
list(JOIN PLACES : PLACES)
set(ENV{PKG_CONFIG_LIBDIR} \${PLACES}:$tree/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $tree)
END
    cmake -S "$SRC" -B "$scratch/build-$1" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$scratch/$1.cmake" \
        -DNFSDIGEST_TESTS=OFF -DNFSDIGEST_PLUGINS=OFF -DNFSDIGEST_WERROR=ON &&
        cmake --build "$scratch/build-$1" --target nfsdigest
}

# All of a database, without the state for the next capture, which is only for machines of this kind.
contents() {
    sqlite3 "$1" .dump | grep -v '^INSERT INTO carry '
}

same() { # ARCHITECTURE CAPTURE
    local name=${2##*/} out=$scratch/out
    rm -rf "$out"
    mkdir "$out"
    zstd -dcqf "$2" >"$out/in"
    for where in here there; do
        local run=("$here")
        [ $where = here ] || run=("${there[@]}")
        "${run[@]}" record -o "$out/$where.nfsr" "$out/in" &&
            "${run[@]}" anonymize --key "$scratch/key" -o "$out/$where.pcapng" "$out/in" >"$out/log" &&
            "${run[@]}" ingest -q -o "$out/$where.db" "$out/in" || fail "$1: $name $where"
    done
    cmp "$out/here.nfsr" "$out/there.nfsr" || fail "$1: record $name"
    cmp "$out/here.pcapng" "$out/there.pcapng" || fail "$1: anonymize $name"
    cmp <(contents "$out/here.db") <(contents "$out/there.db") || fail "$1: ingest $name"
}

# A second capture into a database that began here.
goes_on() { # ARCHITECTURE
    "$here" ingest -q -o "$scratch/begun.db" "$SRC/captures/vfs-libnfs-all22.pcap.zst"
    "${there[@]}" ingest -q -o "$scratch/begun.db" "$SRC/captures/mem-libnfs-all22.pcap.zst" 2>"$scratch/words" ||
        fail "$1: a database of another machine"
    grep -q 'of another build of this program' "$scratch/words" || fail "$1: $(cat "$scratch/words")"
    rm -f "$scratch"/begun.db*
}

for program in mmdebstrap "${compiler[@]}" "${emulator[@]}"; do
    if ! command -v "$program" >"$scratch/found"; then
        echo "NOT RUN: $program is missing"
        exit 77
    fi
done
[ $# -gt 0 ] || set -- s390x i386
"$here" key new "$scratch/key" >"$scratch/log"
for architecture; do
    build_for "$architecture" >"$scratch/log" 2>&1 || { tail -n 30 "$scratch/log"; exit 1; }
    there=("${emulator[$architecture]}" -L "$kept/$architecture" "$scratch/build-$architecture/bin/nfsdigest")
    count=0
    for capture in "$SRC"/captures/*.zst; do
        same "$architecture" "$capture"
        count=$((count + 1))
    done
    goes_on "$architecture"
    echo "$architecture: $count captures"
    [ "$count" -ge 10 ] || fail "only $count captures"
done
exit $failed
