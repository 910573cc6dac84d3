/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lab/randomio.c
 *
 *     randomio FILE OPERATIONS SEED
 *
 * Makes FILE and changes, cuts, maps and reads it at random, and compares what it reads with a copy
 * in memory.  It ends with 1 at the first byte or size that differs, and says where, and which
 * operation wrote it.  Now and then it opens the file again, and drops the kernel's caches if it
 * may, so that the next read asks the server.  Sometimes it opens with O_DIRECT, which must work at
 * any offset, as it does on NFS.  The same seed makes the same system calls.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 3 << 20, PIECE_MAX = 200 << 10, ALIGNED = 4096 };

static struct {
    const char *name;
    int fd;
    bool direct;
    size_t size;
    uint32_t operation;
    uint64_t random;
    uint64_t dropped; /* how often the caches were dropped */
    uint8_t bytes[FILE_MAX];
    uint32_t writer[FILE_MAX]; /* the operation that wrote this byte */
} file;

static uint8_t piece[FILE_MAX];

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "randomio: %s: operation %u: ", file.name, file.operation);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

static void fail_errno(const char *what)
{
    fail("%s: %s", what, strerror(errno));
}

/* splitmix64 */
static uint64_t below(uint64_t n)
{
    uint64_t z = file.random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

/* Half of all numbers lie beside a page's end, where mistakes are. */
static size_t number(size_t max)
{
    size_t n = below(max + 1);

    if (below(2))
        n = n / ALIGNED * ALIGNED + below(3);
    return n > max ? max : n;
}

/* A random piece of at most |limit| bytes in all. */
static void choose(size_t limit, size_t *offset, size_t *len)
{
    *offset = number(limit);
    *len = number(limit - *offset < PIECE_MAX ? limit - *offset : PIECE_MAX);
}

static void compare(const uint8_t *found, size_t offset, size_t len, const char *how)
{
    for (size_t i = 0; i < len; i++)
        if (found[i] != file.bytes[offset + i])
            fail("%s of %zu bytes at %zu: byte %zu is %#x, not %#x, which operation %u wrote", how,
                 len, offset, offset + i, found[i], file.bytes[offset + i],
                 file.writer[offset + i]);
}

static void compare_size(void)
{
    struct stat st;

    if (fstat(file.fd, &st) < 0)
        fail_errno("fstat");
    if ((uint64_t)st.st_size != file.size)
        fail("the size is %lld, not %zu", (long long)st.st_size, file.size);
}

/* The copy gets new bytes: those of operations close to each other differ. */
static void set_bytes(size_t offset, size_t len)
{
    for (size_t i = offset; i < offset + len; i++) {
        file.bytes[i] = (uint8_t)(file.operation * 31 + i * 7 + (i >> 12) + 1);
        file.writer[i] = file.operation;
    }
    if (len && offset + len > file.size)
        file.size = offset + len;
}

static void do_write(void)
{
    size_t offset, len, done = 0;

    choose(FILE_MAX, &offset, &len);
    set_bytes(offset, len);
    while (done < len) {
        ssize_t n = pwrite(file.fd, file.bytes + offset + done, len - done, (off_t)(offset + done));

        if (n <= 0)
            fail_errno("pwrite");
        done += (size_t)n;
    }
}

static void do_read(void)
{
    size_t offset, len, wanted, done = 0;
    ssize_t n;

    choose(FILE_MAX, &offset, &len);
    wanted = offset >= file.size ? 0 : len < file.size - offset ? len : file.size - offset;
    while (done < len && (n = pread(file.fd, piece + done, len - done, (off_t)(offset + done)))) {
        if (n < 0)
            fail_errno("pread");
        done += (size_t)n;
    }
    if (done != wanted)
        fail("read of %zu bytes at %zu: %zu bytes came, not %zu", len, offset, done, wanted);
    compare(piece, offset, wanted, file.direct ? "direct read" : "read");
}

static void do_truncate(void)
{
    size_t size = number(FILE_MAX);

    if (ftruncate(file.fd, (off_t)size) < 0)
        fail_errno("ftruncate");
    for (size_t i = size; i < file.size; i++) {
        file.bytes[i] = 0;
        file.writer[i] = file.operation;
    }
    file.size = size;
}

static void do_map(void)
{
    size_t offset, len, start;
    uint8_t *map;

    if (!file.size || file.direct)
        return;
    choose(file.size, &offset, &len);
    start = offset / ALIGNED * ALIGNED;
    if (!len)
        return;
    map =
        mmap(NULL, offset + len - start, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t)start);
    if (map == MAP_FAILED)
        fail_errno("mmap");
    compare(map + (offset - start), offset, len, "read of the mapping");
    if (below(3)) {
        set_bytes(offset, len);
        memcpy(map + (offset - start), file.bytes + offset, len);
        if (below(2) && msync(map, offset + len - start, MS_SYNC) < 0)
            fail_errno("msync");
    }
    if (munmap(map, offset + len - start) < 0)
        fail_errno("munmap");
}

static void drop_caches(void)
{
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

    if (fd < 0)
        return;
    file.dropped += write(fd, "3\n", 2) == 2;
    close(fd);
}

static void open_again(bool direct)
{
    if (file.fd >= 0 && close(file.fd) < 0)
        fail_errno("close");
    if (file.fd >= 0)
        drop_caches();
    file.direct = direct;
    file.fd = open(file.name,
                   O_RDWR | (file.fd < 0 ? O_CREAT | O_TRUNC : 0) | (direct ? O_DIRECT : 0), 0644);
    if (file.fd < 0)
        fail_errno("open");
}

static void one_operation(void)
{
    switch (below(20)) {
    case 0:
        open_again(!below(4));
        break;
    case 1:
        if (fsync(file.fd) < 0)
            fail_errno("fsync");
        break;
    case 2:
    case 3:
        do_truncate();
        break;
    case 4 ... 8:
        do_map();
        break;
    case 9 ... 13:
        do_write();
        break;
    default:
        do_read();
    }
    compare_size();
}

int main(int argc, char **argv)
{
    uint32_t operations;

    if (argc != 4 || atoi(argv[2]) <= 0) {
        fprintf(stderr, "usage: randomio FILE OPERATIONS SEED\n");
        return 2;
    }
    file.name = argv[1];
    operations = (uint32_t)atoi(argv[2]);
    file.random = strtoull(argv[3], NULL, 10);
    file.fd = -1;
    open_again(false);
    while (file.operation++ < operations)
        one_operation();
    open_again(false);
    compare_size();
    if (pread(file.fd, piece, sizeof(piece), 0) != (ssize_t)file.size)
        fail("the last read is short");
    compare(piece, 0, file.size, "last read");
    if (close(file.fd) < 0)
        fail_errno("close");
    printf("randomio: %s: seed %s, %u operations, %zu bytes, caches dropped %llu times\n",
           file.name, argv[3], operations, file.size, (unsigned long long)file.dropped);
    return 0;
}
