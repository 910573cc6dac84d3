#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# debian.sh RELEASE demo|plain|check|plugin|package [WORK]
#
# Makes a minimal tree of a Debian release (bookworm, trixie, testing, ...) with debootstrap, puts a
# fresh clone of this repository in, and runs there
#
#   demo     ./demo as root, then again without network, and as a user without privileges
#   plain    ./demo --no-wireshark, and nothing of Wireshark is there afterwards
#   check    ./check, then ./check --quick without network
#   plugin   builds against that release's Wireshark, compares what its tshark makes of every
#            capture, in both ways of feeding, with nfsdigest's own reader, shows the tree, and runs
#            the plugins' tests, and those that compare with stock tshark
#   package  builds the Debian packages, asks lintian, installs, uses and removes them; then the one
#            without Wireshark
#
# MIRROR is where packages come from; the default is the mirror that apt of this machine uses.  Output
# also goes to WORK/RELEASE-WHAT.log.  WORK is kept if it is given; the default is a temporary folder.
# Changes that are not committed are not tested.  If CCACHE_DIR is set, package compiles with that cache.
set -u
. "$(dirname "$0")/lib.sh"

inside() { # WHAT: in the tree
    cd /src || exit 1
    case $1 in
    demo)
        ./demo </dev/null && echo "== again, without network" && unshare --net ./demo </dev/null &&
            useradd --create-home --home-dir /var/tester tester && chown -R tester /src && echo "== as a user" &&
            setpriv --reuid=tester --regid=tester --clear-groups env HOME=/var/tester \
                ./demo </dev/null
        ;;
    plain)
        ./demo --no-wireshark </dev/null &&
            ! dpkg-query -W -f='${Package} ${db:Status-Status}\n' | grep -E '^(lib)?(wireshark|tshark).* installed$'
        ;;
    package)
        package
        ;;
    check)
        .ci/run && echo "== again, without network" && unshare --net .ci/run --quick
        ;;
    plugin)
        . scripts/setup.sh
        setup check
        plugin
        ;;
    esac
}

plugin() {
    local capture failed=0 name names way
    cmake --preset release -DNFSDIGEST_WERROR=ON &&
        cmake --build --preset release || return
    . build/env.sh
    tshark --version | head -n 1
    for name in nfspair.so nfsanon.so nfspair.lua; do
        tshark -G plugins | grep "$name" || return
    done
    for capture in captures/*.zst; do
        nfsdigest record -o /tmp/libpcap.nfsr "$capture" || return
        for way in '' ,decap=wireshark; do
            rm -f /tmp/tshark.nfsr
            if tshark -r "$capture" -q -z "nfspair,out=-$way" >/tmp/tshark.nfsr &&
                cmp /tmp/tshark.nfsr /tmp/libpcap.nfsr; then
                echo "ok      $(basename "$capture") ${way#,}"
            else
                echo "FAILED  $(basename "$capture") ${way#,}"
                failed=1
            fi
        done
    done
    tshark -r captures/vfs-libnfs-all22.pcap.zst -V -Y nfspair.latency |
        sed -n '/^\[*NFS Pair/,/^$/p' | head -n 20 | tee /tmp/tree
    [ -s /tmp/tree ] || failed=1
    # the plugins' own, and those that ask stock tshark
    names='plugin|(install|report_annotate|decode_oracle|link_oracle|compare_pairs|model_traffic)$'
    ctest --preset release -R "^(unit_nfs(pair|anon)|pipeline_($names))" || failed=1
    return $failed
}

package() {
    local apt="apt-get -q -y --no-install-recommends" capture=captures/mem-libnfs-all22.pcap.zst left
    export DEBIAN_FRONTEND=noninteractive
    [ ! -d /ccache ] || export CCACHE_DIR=/ccache PATH=/usr/lib/ccache:$PATH
    { apt-get -q update && $apt install build-essential ccache devscripts lintian libnfs-utils zstd &&
        $apt build-dep . ; } >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; return 1; }
    dpkg-buildpackage -b -us -uc >/tmp/dpkg.log 2>&1 || { tail -n 30 /tmp/dpkg.log; return 1; }
    ls -s -h ../*.deb
    lintian --fail-on error,warning --tag-display-limit 0 ../*.changes || return
    $apt install tshark ../nfsdigest*_*.deb ../libnfsdigest*_*.deb >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; return 1; }
    nfsdigest ingest -q -o /tmp/trace.db "$capture" && nfsdigest info --top 3 /tmp/trace.db || return
    tshark -r <(zstd -dc "$capture") -q -z nfspair,out=/tmp/tshark.nfsr && nfsdigest record \
        -o /tmp/own.nfsr "$capture" && cmp /tmp/tshark.nfsr /tmp/own.nfsr || return
    # the example of the manual page
    sed -n '/^\.EX/,/^\.EE/p' man/libnfsdigest.3 | sed '/^\.E[XE]/d; s/\\e/\\/g' >/tmp/rows.c
    # shellcheck disable=SC2046 # they are words
    cc -o /tmp/rows /tmp/rows.c $(pkg-config --cflags --libs libnfsdigest) &&
        [ "$(/tmp/rows "$capture")" = "$(/tmp/rows /tmp/trace.db)" ] || return
    tshark -G folders | grep 'Global configuration' && tshark -G plugins | grep nfs || return
    ftnfsd --memory --export /a --port 0 --for 20s >/tmp/ftnfsd.log & sleep 1
    nfs-ls "$(grep -o '^nfs://[^ ]*' /tmp/ftnfsd.log)" || return
    kill %1
    man --version >/dev/null 2>&1 && man -w nfsdigest ftnfsd nfsreplay nfstee libnfsdigest
    $apt purge 'nfsdigest*' 'libnfsdigest*' >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; return 1; }
    left=$(dpkg -L nfsdigest nfsdigest-live nfsdigest-wireshark libnfsdigest0 libnfsdigest-dev 2>/dev/null)
    [ -z "$left" ] && ! find / -xdev ! -path '/src/*' ! -path '/tmp/*' ! -path '/proc/*' ! -path '/nfsdigest*_*' ! -path '/libnfsdigest*_*' -name '*nfsdigest*' |
        grep . || return
    echo "== without Wireshark"
    DEB_BUILD_PROFILES=pkg.nfsdigest.nowireshark dpkg-buildpackage -b -us -uc >/tmp/dpkg.log 2>&1 ||
        { tail -n 30 /tmp/dpkg.log; return 1; }
    $apt install ../nfsdigest_*.deb >/tmp/apt.log 2>&1 && nfsdigest info --top 3 "$capture"
}

if [ "${1-}" = --inside ]; then
    inside "$2"
    exit
fi

case ${2-} in
demo | plain | check | plugin | package) ;;
*) die "usage: debian.sh RELEASE demo|plain|check|plugin|package [WORK]" ;;
esac
release=$1 what=$2
as_root_only
need debootstrap git unshare
if [ $# -gt 2 ]; then
    mkdir -p "$3"
    work=$(cd "$3" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf --one-file-system "$work"' EXIT
fi
mirror=${MIRROR:-$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' |
    sed -n 's/^Debian Debian //p' | head -n 1)}
[ -n "$mirror" ] || die "apt knows no Debian mirror: set MIRROR"

tree=$work/$release-$what
[ ! -e "$tree" ] || die "$tree is there already: remove it"
echo "== a minimal $release from $mirror"
debootstrap --variant=minbase "$release" "$tree" "$mirror" >"$tree.log" 2>&1 ||
    die "debootstrap failed: see $tree.log"
cp /etc/resolv.conf "$tree/etc/"
# a mirror may be frozen, or lag
echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/90lab"
[ -z "${CCACHE_DIR-}" ] || mkdir "$tree/ccache"
git clone --quiet "$lab/../.." "$tree/src" || die "cannot clone"

# shellcheck disable=SC2016 # expanded inside
timeout "${LIMIT:-3600}" unshare --mount --pid --fork --kill-child bash -c '
    mount --make-rprivate /
    mount --bind "$0" "$0"
    [ ! -d "$0/ccache" ] || mount --bind "$CCACHE_DIR" "$0/ccache"
    mount -t proc proc "$0/proc"
    mount -t devpts devpts "$0/dev/pts"
    mount -t tmpfs tmpfs "$0/dev/shm"
    exec chroot "$0" env -i HOME=/root PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
        LANG=C.UTF-8 /src/tests/lab/debian.sh --inside "$1"' "$tree" "$what" 2>&1 | tee -a "$tree.log"
result=${PIPESTATUS[0]}
echo "== $release $what: exit code $result"
exit "$result"
