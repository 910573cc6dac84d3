#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
#
# A disk that is full, at many moments; a limit on file sizes; exit code 4, no half-made
# output under the final name, the database as it was before.
set -eu
. "$(dirname "$0")/store_lib.sh"

n=$NFSDIGEST
cd "$scratch"

# A disk with room for FULL_AFTER bytes: writes to files fail with ENOSPC behind that.
cat >full.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_full;

/* Only what makes a file longer needs room. */
static ssize_t room(int fd, size_t len, off_t at)
{
    static long left = -1;
    struct stat st;

    if (left < 0)
        left = atol(getenv("FULL_AFTER"));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 1;
    if (at + (off_t)len <= st.st_size)
        return 1;
    if (at < st.st_size)
        len -= (size_t)(st.st_size - at);
    if ((long)len > left) {
        is_full = 1;
        errno = ENOSPC;
        return -1;
    }
    left -= (long)len;
    return 1;
}
ssize_t write(int fd, const void *data, size_t len)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return room(fd, len, lseek(fd, 0, SEEK_CUR)) < 0 ? -1 : real(fd, data, len);
}
ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return room(fd, len, at) < 0 ? -1 : real(fd, data, len, at);
}
ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    return pwrite64(fd, data, len, at);
}
/* With FULL_FAILS, as file systems that copy on write: not even a rollback works then. */
static int fails(void)
{
    errno = ENOSPC;
    return is_full && getenv("FULL_FAILS");
}
int ftruncate64(int fd, off64_t len)
{
    static int (*real)(int, off64_t);
    if (!real)
        real = (int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64");
    return fails() ? -1 : real(fd, len);
}
int ftruncate(int fd, off_t len)
{
    return ftruncate64(fd, len);
}
int fdatasync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return fails() ? -1 : real(fd);
}
int fsync(int fd)
{
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return fails() ? -1 : real(fd);
}
C
cc -shared -fPIC -o full.so full.c -ldl

full() { # BYTES COMMAND...
    bytes=$1
    shift
    env LD_PRELOAD="$scratch/full.so" FULL_AFTER="$bytes" "$@"
}

first=$(capture knfsd-netem-udp)
second=$(capture knfsd-tcp-mtu1500)
"$n" record -o second.nfsr "$second"
"$n" ingest -q -o first.db "$first"
"$n" ingest -q -o second.db "$second"
"$n" ingest -q -o both.db "$first" "$second"
for name in first both; do
    sql $name.db .dump >$name.sql
done
"$n" ingest -q -o stream.db second.nfsr
room=$(stat -c %s stream.db)
grown=$(($(stat -c %s both.db) - $(stat -c %s first.db)))

expect "the shim lets through what there is room for" 0 - \
    full 1000000000 "$n" ingest -q -o enough.db "$first" "$second"
is "and changes nothing" "$(sql enough.db .dump | cmp - both.sql)" ""

for part in 0 1 2 5 10 20 35 50 65 80 90 95 99; do
    bytes=$((room * part / 100))
    for input in "$second" second.nfsr; do
        rm -f new.db*
        expect "a new database, room for $bytes" 4 'full' \
            full $bytes "$n" ingest -q -o new.db "$input"
        is "a new database, room for $bytes: not there" "$(ls new.db* 2>/dev/null)" ""
        expect "a new database, no way back, room for $bytes" 4 'full' \
            full $bytes env FULL_FAILS=1 "$n" ingest -q -o new.db "$input"
        is "a new database, no way back, room for $bytes: not there" "$(ls new.db* 2>/dev/null)" ""
    done
    cp first.db old.db
    bytes=$((grown * part / 100))
    expect "a database, room for $bytes" 4 'full' full $bytes "$n" ingest -q -o old.db "$second"
    is "a database, room for $bytes: as before" "$(sql old.db .dump | cmp - first.sql)" ""
    expect "a database, room for $bytes: then there is room" 0 - \
        "$n" ingest -q -o old.db "$first" "$second"
    is "a database, room for $bytes: as if undisturbed" "$(sql old.db .dump | cmp - both.sql)" ""
done

size=$(stat -c %s second.nfsr)
for part in 0 10 50 99; do
    rm -rf out
    mkdir out
    expect "a record, room for $part %" 4 'out/x\.nfsr.*No space left' \
        full $((size * part / 100)) "$n" record -o out/x.nfsr "$second"
    is "a record, room for $part %: nothing there" "$(ls -A out)" ""
    echo old >out/x.nfsr
    expect "a record over another, room for $part %" 4 'No space left' \
        full $((size * part / 100)) "$n" record -o out/x.nfsr "$second"
    is "a record over another, room for $part %: the old one" "$(cat out/x.nfsr)" old
done

# replay dumps: of one copy, of several by way of one in TMPDIR, in parts
mkdir tmp
export TMPDIR=$scratch/tmp
for options in "" "--copies 3" "--split-by client"; do
    rm -rf out
    mkdir out
    "$n" rdump second.db -o out/x.rdump $options >/dev/null
    size=$(cat out/* | wc -c)
    for part in 0 10 50 90 99; do
        rm -rf out
        mkdir out
        expect "rdump $options, room for $part %" 4 'full|No space left' \
            full $((size * part / 100)) "$n" rdump second.db -o out/x.rdump $options
        is "rdump $options, room for $part %: nothing there" "$(ls -A out tmp)" "out:

tmp:"
    done
done
unset TMPDIR

# tables of plans, and their graphs
cp second.db plan.db
"$n" deps --store plan.db >/dev/null
grown=$(($(stat -c %s plan.db) - $(stat -c %s second.db)))
sql second.db .dump >second.sql
rm -rf out
mkdir out
for part in 0 10 50 90 99; do
    cp second.db plan.db
    expect "deps --store, room for $part %" 4 'full|No space left' \
        full $((grown * part / 100)) "$n" deps --store plan.db
    is "deps --store, room for $part %: as before" "$(sql plan.db .dump | cmp - second.sql)" ""
done
expect "deps --dot, no room" 4 'full|No space left' full 100 "$n" deps --range 1..30 --dot out/x.dot second.db
is "deps --dot, no room: nothing there" "$(ls -A out)" ""

rm -f new.db
limited() {
    (
        ulimit -f 1000
        exec "$@"
    )
}
expect "file size limit: database" 4 'new\.db' limited "$n" ingest -q -o new.db "$second"
is "file size limit: database: not there" "$(ls new.db* 2>/dev/null)" ""
expect "file size limit: record" 4 'File too large' limited "$n" record -o new.nfsr "$second"
is "file size limit: record: not there" "$(ls new.nfsr* 2>/dev/null)" ""

to_full() {
    "$@" >/dev/full
}
to_closed() {
    "$@" | true
    return "${PIPESTATUS[0]}"
}
for command in "record $second" "ops both.db" "ops --json both.db" "info both.db" \
    "info --json both.db" "check both.db" "--help" "--version" "ops --help"; do
    expect "full standard output: $command" 4 'standard output.*No space left' to_full "$n" $command
done
# only what writes more than a pipe holds can know that nobody reads
for command in "record $second" "ops both.db" "ops --json --fields both.db"; do
    expect "closed pipe: $command" 141 - to_closed "$n" $command
done

# a directory that is not there, or may not be written
expect "no directory: database" 4 'nowhere/x\.db' "$n" ingest -q -o nowhere/x.db "$first"
expect "no directory: record" 4 'nowhere/x\.nfsr' "$n" record -o nowhere/x.nfsr "$first"
expect "busy database" 4 'busy\.db: another process' sh -c "
    cp first.db busy.db
    python3 -c '
import sqlite3, time
c = sqlite3.connect(\"busy.db\", isolation_level=None)
c.execute(\"BEGIN IMMEDIATE\")
open(\"locked\", \"w\").close()
time.sleep(9)' &
    while [ ! -e locked ]; do sleep 0.05; done
    code=0
    '$n' ingest -q -o busy.db '$second' || code=\$?
    kill \$!
    exit \$code"

finish
