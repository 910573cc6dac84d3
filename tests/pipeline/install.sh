#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# "cmake --install" puts everything where it belongs, and what it put there runs without the build
# folder or the source.
# ctest: plugin
set -eu

: "${BUILD:?the build folder}" "${SRC:?the source}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAILED $*"
    failed=1
}

DESTDIR=$scratch/stage cmake --install "$BUILD" --prefix /usr >"$scratch/log" ||
    { cat "$scratch/log"; exit 1; }
cd "$scratch/stage"

there() { # PATTERN: exactly one file, and not an empty one
    count=$(find . -path "./$1" -size +0 | wc -l)
    [ "$count" -eq 1 ] || fail "$1: $count files"
}
there usr/bin/nfsdigest
there usr/bin/nfsreplay
there usr/share/man/man1/nfsreplay.1
there usr/bin/nfsreplay-mpi
there usr/share/man/man1/nfsreplay-mpi.1
there usr/bin/nfstee
there usr/share/man/man8/nfstee.8
for program in nfsdigest nfsreplay nfstee ftnfsd; do
    there usr/share/bash-completion/completions/$program
done
there usr/share/zsh/vendor-completions/_nfsdigest
there 'usr/include/nfsdigest.h'
there 'usr/lib*/libnfsdigest.so.0.*'
there 'usr/lib*/pkgconfig/libnfsdigest.pc'
there '*/wireshark/plugins/*/epan/nfspair.so'
there '*/wireshark/plugins/*/epan/nfsanon.so'
there '*/wireshark/plugins/*/nfspair.lua'
for file in "$SRC"/schemas/*; do
    there "usr/share/nfsdigest/${file##*/}"
done

# the examples of units are such as systemd takes, and their options exist
units=$scratch/units
mkdir -p "$units/nfstee-relay.service.d"
there 'usr/share/doc/nfsdigest/systemd/nfstee-relay-transparent.conf'
cp usr/share/doc/nfsdigest/systemd/nfstee-relay-transparent.conf "$units/nfstee-relay.service.d/"
for command in relay shadow run; do
    unit=nfstee-$command.service
    there "usr/share/doc/nfsdigest/systemd/$unit"
    sed -e "s|/usr/bin/nfstee|$PWD/usr/bin/nfstee|" -e 's/^User=.*/User=root/' \
        "usr/share/doc/nfsdigest/systemd/$unit" >"$units/$unit"
    for option in $(grep -hoE -e '--[a-z-]+' "$units/$unit" | grep -vx -e --now); do
        usr/bin/nfstee "$command" --help | grep -q -e "$option\b" || fail "$unit: no option $option"
    done
done
if command -v systemd-analyze >"$scratch/log"; then
    for unit in "$units"/*.service; do
        SYSTEMD_UNIT_PATH=$units: systemd-analyze --man=no verify "$unit" \
            >"$scratch/verified" 2>&1 || fail "systemd-analyze: $(cat "$scratch/verified")"
        ! grep -F "$units" "$scratch/verified" || fail "systemd-analyze has something to say"
    done
fi

commands=$(usr/bin/nfsdigest --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -vx help)
[ "$(echo "$commands" | wc -l)" -ge 5 ] || fail "commands in the help: $commands"
there usr/share/man/man1/nfsdigest.1
for command in $commands; do
    there "usr/share/man/man1/nfsdigest-$command.1"
done

# every page says what every option is
for command in $commands; do
    page=usr/share/man/man1/nfsdigest-$command.1
    [ -f "$page" ] || continue
    for option in $(usr/bin/nfsdigest "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' |
        grep -oE -e '--[a-z-]+'); do
        sed 's/\\-/-/g' "$page" | grep -q -e "$option\b" || fail "$page: nothing about $option"
    done
done

# the example of the library's page
there usr/share/man/man3/libnfsdigest.3
sed -n '/^\.EX/,/^\.EE/p' usr/share/man/man3/libnfsdigest.3 | sed '/^\.E[XE]/d; s/\\e/\\/g' >"$scratch/rows.c"
library=$(find usr -name 'libnfsdigest.so')
cc -Wall -Wextra -Werror -Iusr/include -o "$scratch/rows" "$scratch/rows.c" "$library" ||
    fail "the example of libnfsdigest(3)"
rows=$(LD_LIBRARY_PATH=$(dirname "$library") "$scratch/rows" "$SRC/captures/mem-libnfs-all22.pcap.zst") || rows=
[ "$rows" = 206 ] || fail "the example of libnfsdigest(3): $rows rows"

# what the programs write is recognized
"$BUILD/bin/nfsdigest" record -o "$scratch/a.nfsr" "$SRC/captures/mem-libnfs-all22.pcap.zst" ||
    fail "nfsdigest record"
if command -v file >"$scratch/log"; then
    said=$(file -b -m usr/share/nfsdigest/magic "$scratch/a.nfsr")
    case $said in
    "NFS record stream (nfsdigest), version 1."*) ;;
    *) fail "file(1): $said" ;;
    esac
    said=$(file -b --mime-type -m usr/share/nfsdigest/magic "$scratch/a.nfsr")
    [ "$said" = application/x-nfsr ] || fail "file(1): $said"
fi
there usr/share/mime/packages/nfsdigest.xml
there '*/wireshark/profiles/NFS Pair/preferences'

mkdir "$scratch/empty"
(cd "$scratch/empty" && "$scratch/stage/usr/bin/nfsdigest" --version) >"$scratch/version"
grep -q '^nfsdigest [0-9]' "$scratch/version" || fail "--version: $(cat "$scratch/version")"

# and all of it goes again, but nothing else
mkdir usr/share/nfsdigest/own
echo kept >usr/share/nfsdigest/own/file
DESTDIR=$scratch/stage cmake -P "$BUILD/uninstall.cmake" >"$scratch/log" ||
    { cat "$scratch/log"; exit 1; }
left=$(find . ! -type d)
[ "$left" = ./usr/share/nfsdigest/own/file ] || fail "left behind: $left"
[ ! -e usr/share/doc/nfsdigest ] || fail "usr/share/doc/nfsdigest is left"
exit $failed
