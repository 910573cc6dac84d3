/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_nfs.c
 *
 *     bench_nfs ADDRESS NFS-PORT MOUNT-PORT EXPORT OPERATION OUTSTANDING SECONDS [FILES]
 *
 * One connection with so many calls outstanding, all of one kind, against any NFSv3 server:
 * getattr, lookup, access, read (4 KiB), write (4 KiB), create (and remove), list (READDIRPLUS from
 * its beginning).  Makes a directory of FILES files (100) first.  Prints calls a second, and
 * microseconds from a call to its reply: median and 99th percentile.  For part_live.py, which
 * measures the server's CPU meanwhile.
 */
#include "bench_client.h"
#include "net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTSTANDING_MAX = 1024, BLOCK = 4096 };
enum { PROC_GETATTR = 1, PROC_LOOKUP = 3, PROC_ACCESS = 4, PROC_READ = 6, PROC_WRITE = 7 };
enum { PROC_CREATE = 8, PROC_MKDIR = 9, PROC_REMOVE = 12, PROC_READDIRPLUS = 17 };

/* What every call is about: the directory, a file in it, how many it has. */
static struct bench_fh directory, file;
static uint8_t block[BLOCK];
static uint32_t file_count;

/* --- what is there */

static struct CREATE3args create_args(const char *what)
{
    return (struct CREATE3args){ .where = { bench_of(&directory), bench_text(what) },
                                 .how = { .obj_attributes = { .set_mode = true, .mode = 0644 } } };
}

static void make_files(struct bench_client *c, const struct bench_fh *root, uint32_t files)
{
    char text_of[32];
    struct MKDIR3args dir = { .attributes = { .set_mode = true, .mode = 0755 } };
    struct WRITE3args write = { .count = BLOCK, .stable = FILE_SYNC, .data = { block, BLOCK } };
    struct CREATE3res res;
    struct WRITE3res written;

    file_count = files;
    snprintf(text_of, sizeof(text_of), "bench-%d", (int)getpid());
    dir.where = (struct diropargs3){ bench_of(root), bench_text(text_of) };
    bench_call(c, PROC_MKDIR, &dir, &res);
    if (res.status || !res.obj_follows)
        bench_die("MKDIR");
    bench_keep(&directory, res.obj);
    for (uint32_t i = files; i-- > 0;) {
        struct CREATE3args args;

        snprintf(text_of, sizeof(text_of), "f%u", i);
        args = create_args(text_of);
        bench_call(c, PROC_CREATE, &args, &res);
        if (res.status || !res.obj_follows)
            bench_die("CREATE");
    }
    bench_keep(&file, res.obj);
    write.file = bench_of(&file);
    bench_call(c, PROC_WRITE, &write, &written);
}

/* --- the load */

static void put_getattr(struct bench_client *c, uint64_t n)
{
    (void)n;
    bench_put(c, PROC_GETATTR, &(struct GETATTR3args){ bench_of(&file) });
}

/* A name anywhere in the directory, so that what is near in the server's memory changes. */
static void put_lookup(struct bench_client *c, uint64_t n)
{
    char what[32];

    snprintf(what, sizeof(what), "f%u", (unsigned)(n * UINT64_C(2654435761) % file_count));
    bench_put(c, PROC_LOOKUP, &(struct LOOKUP3args){ { bench_of(&directory), bench_text(what) } });
}

static void put_access(struct bench_client *c, uint64_t n)
{
    (void)n;
    bench_put(c, PROC_ACCESS, &(struct ACCESS3args){ bench_of(&file), 0x3f });
}

static void put_read(struct bench_client *c, uint64_t n)
{
    (void)n;
    bench_put(c, PROC_READ, &(struct READ3args){ bench_of(&file), 0, BLOCK });
}

static void put_write(struct bench_client *c, uint64_t n)
{
    (void)n;
    bench_put(c, PROC_WRITE,
              &(struct WRITE3args){ bench_of(&file), 0, BLOCK, UNSTABLE, { block, BLOCK } });
}

/* A name is removed long after it was made: in between are more than OUTSTANDING_MAX others. */
static void put_create(struct bench_client *c, uint64_t n)
{
    char what[32];
    struct CREATE3args args;

    snprintf(what, sizeof(what), "c%u", (unsigned)(n / 2 % (4 * OUTSTANDING_MAX)));
    if (n / (8 * OUTSTANDING_MAX) % 2) {
        bench_put(c, PROC_REMOVE,
                  &(struct REMOVE3args){ { bench_of(&directory), bench_text(what) } });
        return;
    }
    args = create_args(what);
    bench_put(c, PROC_CREATE, &args);
}

static void put_list(struct bench_client *c, uint64_t n)
{
    (void)n;
    bench_put(c, PROC_READDIRPLUS,
              &(struct READDIRPLUS3args){
                  .dir = bench_of(&directory), .dircount = 8192, .maxcount = 32768 });
}

static const struct operation {
    const char *name;
    void (*put)(struct bench_client *c, uint64_t n);
} operations[] = {
    { "getattr", put_getattr }, { "lookup", put_lookup }, { "access", put_access },
    { "read", put_read },       { "write", put_write },   { "create", put_create },
    { "list", put_list },       { NULL, NULL },
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void load(struct bench_client *c, const struct operation *o, uint32_t outstanding,
                 double seconds)
{
    enum { SAMPLES = 1 << 20 };
    static int64_t sent[4096]; /* by XID */
    uint32_t *samples = calloc(SAMPLES, sizeof(*samples)), sample_count = 0, xid;
    int64_t begun = loop_clock(), now = begun, end = begun + (int64_t)(seconds * 1e9);
    uint64_t calls = 0, done = 0;
    struct bytes results;

    if (!samples)
        bench_die("memory");
    while (now < end) {
        now = loop_clock();
        while (calls - done < outstanding) {
            o->put(c, calls++);
            sent[c->xid % 4096] = now;
        }
        bench_flush(c);
        for (bool wait = true; bench_next_reply(c, wait, &xid, &results); wait = false) {
            if (wait)
                now = loop_clock();
            if (sample_count < SAMPLES)
                samples[sample_count++] = (uint32_t)((now - sent[xid % 4096]) / 10);
            done++;
        }
    }
    qsort(samples, sample_count, sizeof(*samples), by_value);
    printf("%.0f %.2f %.2f %llu\n", (double)done / ((double)(now - begun) / 1e9),
           samples[sample_count / 2] / 100.0, samples[sample_count / 100 * 99] / 100.0,
           (unsigned long long)done);
    free(samples);
}

int main(int argc, char **argv)
{
    struct bench_client c = { 0 };
    const struct operation *o = operations;
    struct bench_fh root;
    uint32_t outstanding;

    if (argc < 8)
        return 2;
    wire_init();
    if (nfs3_structs_init(NULL) < 0 || mount_structs_init(NULL) < 0)
        bench_die("structs");
    outstanding = (uint32_t)atoi(argv[6]);
    while (o->name && strcmp(o->name, argv[5]) != 0)
        o++;
    if (!o->name || outstanding < 1 || outstanding > OUTSTANDING_MAX)
        return 2;
    bench_mount(argv[1], argv[3], argv[4], &root);
    bench_connect(&c, argv[1], argv[2]);
    make_files(&c, &root, argc > 8 ? (uint32_t)atoi(argv[8]) : 100);
    printf("ready\n");
    fflush(stdout);
    getchar(); /* until the CPU time has been read */
    load(&c, o, outstanding, atof(argv[7]));
    close(c.fd);
    buf_free(&c.in);
    buf_free(&c.out);
    return 0;
}
