#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
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
expect "no difference" 0 '203 aligned operations' "$n" compare -s --html none.html vfs.db vfs.db
[ -s none.html ] && ok || bad "no page"
expect "again" 1 'discrepancies' "$n" compare -s --html again.html kept.db
cmp again.html report.html && ok || bad "another page of the same result"
expect "no folder" 4 'nowhere' "$n" compare -s --html nowhere/page.html vfs.db mem.db

# What is written never replaces what is read, what that names, or what else is written.
printf '[fields]\n*.nlink = ignored\n' >mine.conf
cp vfs.db page-ref.pcapng
ln -s vfs.db link.db
ln -s nothing.html dangling.html
mkdir sub
sum() {
    cat vfs.db mem.db kept.db mine.conf page-ref.pcapng ./*.pcap.zst | cksum
}
before=$(sum) files=$(ls)
refuse() { # WORDS ARGUMENTS...
    words=$1
    shift
    expect "$*" 2 "$words" "$n" "$@"
    is "$*: files" "$(ls)" "$files"
}
c=(compare -s)
r=$scratch/mem.db
refuse '--html: vfs.db would replace the trace database vfs.db' "${c[@]}" --html vfs.db vfs.db mem.db
refuse '--html: sub/../mem.db would replace .*mem.db' "${c[@]}" --html sub/../mem.db vfs.db "$r"
refuse '--html: link.db would replace the trace database vfs.db' "${c[@]}" --html link.db vfs.db mem.db
refuse '--html: mem.db would replace' "${c[@]}" --noise mem.db --html mem.db vfs.db vfs.db
refuse '--output: vfs-libnfs-all22.pcap.zst would replace the capture vfs' \
    "${c[@]}" -o vfs-libnfs-all22.pcap.zst vfs.db mem.db
refuse '--output: mem-libnfs-all22.pcap.zst would replace the capture' \
    "${c[@]}" --noise mem.db -o mem-libnfs-all22.pcap.zst vfs.db vfs.db
refuse '--output: ./mine.conf would replace the rule file ./mine.conf' \
    "${c[@]}" -r ./mine.conf -o ./mine.conf vfs.db mem.db
refuse '--output o3 and --html sub/../o3 would be one file' "${c[@]}" -o o3 --html sub/../o3 vfs.db mem.db
refuse '--output dangling.html and --html dangling.html' \
    "${c[@]}" -o dangling.html --html dangling.html vfs.db mem.db
refuse '--annotate: page-ref.pcapng would replace the trace database page-ref' \
    "${c[@]}" --annotate page.pcapng page-ref.pcapng mem.db
refuse '--html x-sut.pcapng and --annotate x-sut.pcapng would be one file' \
    "${c[@]}" --annotate x.pcapng --html x-sut.pcapng vfs.db mem.db
refuse '--html: kept.db would replace the result kept.db' "${c[@]}" --html kept.db kept.db
refuse '--output: vfs.db would replace the trace database' "${c[@]}" -o vfs.db kept.db
refuse '--html: ./kept.db would replace the result kept.db' report --html ./kept.db kept.db
refuse '--html: mem.db would replace the trace database' report --html mem.db kept.db
refuse '--html: vfs-libnfs-all22.pcap.zst would replace the capture' \
    report --html vfs-libnfs-all22.pcap.zst kept.db
refuse '--html z-ref.pcapng and --annotate z-ref.pcapng' \
    report --html z-ref.pcapng --annotate z.pcapng kept.db
refuse '--annotate: page-ref.pcapng would replace the capture page-ref.pcapng' \
    report --annotate page.pcapng kept.db page-ref.pcapng
# names that are none, and a page where the report is
refuse '--html -: standard output is for the report' "${c[@]}" --html - vfs.db mem.db
refuse '--html /dev/stdout: standard output is' "${c[@]}" --html /dev/stdout vfs.db mem.db
refuse '--output -: standard output is' "${c[@]}" -o - vfs.db mem.db
refuse '--annotate takes the name of a file' "${c[@]}" --annotate - vfs.db mem.db
refuse '--annotate takes the name of a file' report --annotate '' kept.db
for option in output html; do
    refuse "--$option: a file's name is missing" "${c[@]}" --$option '' vfs.db mem.db
done
refuse "--html: a file's name is missing" report --html '' kept.db
refuse '--examples: 4: a result has 0 to 3 examples' compare -e 4 vfs.db mem.db
refuse '--examples: 4294967297: a result has 0 to 3' compare -e 4294967297 vfs.db mem.db
is "inputs" "$(sum)" "$before"
# what is as it should be
rm page-ref.pcapng
expect "the result again" 1 'discrepancies' "$n" compare -s -r ./mine.conf -o ./kept.db --html new.html kept.db
expect "no place" 1 'discrepancies' "$n" compare -s --html /dev/null vfs.db mem.db
"$n" report --html - kept.db | cmp - new.html && ok || bad "a page on standard output"
expect "no examples" 1 'discrepancies' "$n" compare -e 0 kept.db

# Records have no packets: the captures behind them are known by their frames.
for side in vfs mem; do
    "$n" record -o $side.nfsr $side-libnfs-all22.pcap.zst && "$n" ingest -q -o n$side.db $side.nfsr ||
        bad "record $side"
done
refuse_now=$(ls)
expect "records" 2 'nvfs|vfs.nfsr has records, no packets' "$n" compare -s --annotate n.pcapng nvfs.db nmem.db
is "nothing made" "$(ls)" "$refuse_now"
expect "of records" 1 'discrepancies' "$n" compare -s -o n.db nvfs.db nmem.db
expect "of both" 1 'discrepancies' "$n" compare -s -o half.db vfs.db nmem.db
expect "no capture" 3 'vfs.nfsr: has records, no packets: name the one capture' \
    "$n" report --annotate n.pcapng n.db
expect "one capture" 3 'mem.nfsr: has records, no packets: name the one capture' \
    "$n" report --annotate n.pcapng n.db vfs-libnfs-all22.pcap.zst
expect "a stranger" 3 'knfsd-vlan.*not one of the captures' \
    "$n" report --annotate n.pcapng n.db "$CAPTURES/knfsd-vlan.pcap.zst"
is "left behind" "$(ls temporary)" ""
finish
