#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120 asan
# compare --html and --annotate: the same files as report makes of the stored result, with and without
# keeping it, and nothing left behind.
. "$SRC/tests/pipeline/store_lib.sh"
cd "$scratch" || exit 1
n=$NFSDIGEST

mkdir temporary
export TMPDIR=$scratch/temporary
for side in vfs mem; do
    cp "$CAPTURES/$side-libnfs-all22.pcap.zst" . && "$n" ingest -q -o $side.db $side-libnfs-all22.pcap.zst ||
        bad "ingest $side"
done
expect "kept" 1 'discrepancies in [0-9]+ groups' "$n" compare -s -o kept.db --html kept.html vfs.db mem.db
expect "report" 0 '.' "$n" report --html report.html --annotate report.pcapng kept.db
expect "not kept" 1 'discrepancies in [0-9]+ groups' \
    "$n" compare -s --html page.html --annotate page.pcapng vfs.db mem.db
cmp kept.html report.html && cmp page.html report.html && ok || bad "other pages"
for side in ref sut; do
    cmp page-$side.pcapng report-$side.pcapng && ok || bad "other captures"
done
expect "no difference" 0 '203 pairs' "$n" compare -s --html none.html vfs.db vfs.db
[ -s none.html ] && ok || bad "no page"
expect "again" 1 'discrepancies' "$n" compare -s --html again.html kept.db
cmp again.html report.html && ok || bad "another page of the same result"
expect "no folder" 4 'nowhere' "$n" compare -s --html nowhere/page.html vfs.db mem.db
is "left behind" "$(ls temporary)" ""
finish
