/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench_fs [ENTRIES]
 *
 * What live/fs costs: ns a LOOKUP (with attributes) in a directory of 100 and in one of ENTRIES
 * (default 1,000,000) by random names, ns an entry of a listing, ns a CREATE and a REMOVE, bytes an
 * empty file, ns a 4 KiB READ and WRITE.
 */
#include "fs/changes.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKUPS = 2000000, SMALL = 100 };

static const struct fs_caller root = { 0 };
static uint64_t sum;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct bytes name_of(uint32_t n, char text[24])
{
    return (struct bytes){ (uint8_t *)text, (uint32_t)snprintf(text, 24, "file-%015u", n) };
}

static uint32_t make(struct fs *fs, uint32_t dir, uint32_t n, enum ftype3 type)
{
    struct fs_new new_object = { .type = type, .attributes = { .set_mode = true, .mode = 0644 } };
    uint32_t object = 0;
    char text[24];

    if (fs_make(fs, &root, dir, name_of(n, text), &new_object, &object) != NFS3_OK)
        exit(1);
    return object;
}

static double lookups(struct fs *fs, uint32_t dir, uint32_t entries)
{
    static char names[1 << 16][24];
    uint64_t state = 1;
    double before;

    for (uint32_t i = 0; i < 1 << 16; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        name_of((uint32_t)(state >> 33) % entries, names[i]);
    }
    before = now();
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        struct bytes name = { (uint8_t *)names[i & 0xffff], 20 };
        struct fattr3 a;
        uint32_t object;

        if (fs_lookup(fs, &root, dir, name, &object) != NFS3_OK)
            exit(1);
        fs_attributes(fs, object, &a);
        sum += a.fileid;
    }
    return (now() - before) / LOOKUPS;
}

static int count_one(void *ctx, const struct fs_entry *entry)
{
    ++*(uint64_t *)ctx;
    sum += entry->fileid;
    return 0;
}

static void contents(struct fs *fs)
{
    static uint8_t page[FS_PAGE];
    uint32_t file = make(fs, fs_root(fs), 3, NF3REG), count;
    double before = now();
    bool eof;

    page[0] = 1;
    for (uint32_t i = 0; i < 50000; i++)
        if (fs_write(fs, &root, file, (uint64_t)i * FS_PAGE, (struct bytes){ page, FS_PAGE },
                     FILE_SYNC) != NFS3_OK)
            exit(1);
    printf("WRITE of 4 KiB, new page: %.0f ns\n", (now() - before) / 50000);
    before = now();
    for (uint32_t i = 0; i < 50000; i++) {
        count = FS_PAGE;
        fs_read(fs, &root, file, (uint64_t)i * FS_PAGE, page, &count, &eof);
    }
    printf("READ of 4 KiB: %.0f ns\n", (now() - before) / 50000);
}

int main(int argc, char **argv)
{
    struct fs_config config = { .root_mode = 0755 };
    struct fs *fs = fs_new(&config, NULL);
    uint32_t many = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000, small, large;
    uint64_t listed = 0;
    struct mallinfo2 first;
    double before, a, b;
    bool eof;

    if (!fs || many < SMALL)
        return 2;
    small = make(fs, fs_root(fs), 1, NF3DIR);
    large = make(fs, fs_root(fs), 2, NF3DIR);
    for (uint32_t i = 0; i < SMALL; i++)
        make(fs, small, i, NF3REG);
    first = mallinfo2();
    before = now();
    for (uint32_t i = 0; i < many; i++)
        make(fs, large, i, NF3REG);
    printf("CREATE: %.0f ns\n", (now() - before) / many);
    printf("bytes an empty file (name of 20 bytes): %.1f\n",
           (double)(mallinfo2().uordblks + mallinfo2().hblkhd - first.uordblks - first.hblkhd) /
               many);
    a = lookups(fs, small, SMALL);
    b = lookups(fs, large, many);
    printf("LOOKUP among %d: %.0f ns; among %u: %.0f ns (%.1f times)\n", SMALL, a, many, b, b / a);
    before = now();
    fs_list(fs, &root, large, 0, count_one, &listed, &eof);
    printf("listing %llu: %.0f ns an entry\n", (unsigned long long)listed,
           (now() - before) / (double)listed);
    contents(fs);
    before = now();
    for (uint32_t i = 0; i < many; i++) {
        char text[24];

        fs_remove(fs, &root, large, name_of(i, text), false);
    }
    printf("REMOVE: %.0f ns\n", (now() - before) / many);
    fs_free(fs);
    return sum == 1; /* so that nothing is left out */
}
