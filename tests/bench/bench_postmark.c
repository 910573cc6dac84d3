/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_postmark.c
 *
 *     bench_postmark ADDRESS NFS-PORT MOUNT-PORT EXPORT SECONDS SEED [FILES]
 *
 * Transactions as PostMark's (Katcher, NetApp TR3022), by NFSv3 over one connection, one call at a
 * time: FILES files (500) of 512 bytes to 9.77 KB in a directory; then each transaction creates or
 * deletes a file, and reads one whole or appends to one, with equal chances.  A client that caches
 * nothing looks a name up each time.  Waits for a line, so that many begin at once; prints
 * transactions, calls, and seconds.  For part_relay.py and tee_postmark.py.
 */
#include "bench_client.h"
#include "net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST = 512,
    MOST = 10000,
    FILES_MAX = 1 << 16,
    SIZE_MAX_GROWN = 1 << 16, /* a file that was appended to so often is read in part */
    PROC_LOOKUP = 3,
    PROC_READ = 6,
    PROC_WRITE = 7,
    PROC_CREATE = 8,
    PROC_MKDIR = 9,
    PROC_REMOVE = 12,
    PROC_COMMIT = 21,
};

struct postmark {
    struct bench_client c;
    struct bench_fh directory;
    uint32_t names[FILES_MAX * 2]; /* of files that are there */
    uint32_t sizes[FILES_MAX * 2]; /* of each of them */
    uint32_t count, next_name;
    uint64_t seed, calls;
};

static uint8_t block[SIZE_MAX_GROWN];

static uint32_t below(struct postmark *p, uint32_t n)
{
    p->seed = p->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->seed >> 33) % n;
}

static void call(struct postmark *p, uint32_t procedure, const void *args, void *res)
{
    bench_call(&p->c, procedure, args, res);
    p->calls++;
}

static const char *name_of(uint32_t number, char text[16])
{
    snprintf(text, 16, "f%u", number);
    return text;
}

/* WRITEs |count| bytes from |offset| on, and COMMITs them. */
static void write_to(struct postmark *p, struct bytes file, uint32_t offset, uint32_t count)
{
    struct WRITE3args write = { file, offset, count, UNSTABLE, { block, count } };
    struct COMMIT3args commit = { .file = file };
    struct WRITE3res written;
    struct COMMIT3res committed;

    call(p, PROC_WRITE, &write, &written);
    call(p, PROC_COMMIT, &commit, &committed);
    if (written.status || committed.status)
        bench_die("WRITE");
}

static void create(struct postmark *p)
{
    char text[16];
    struct CREATE3args args = { .where = { bench_of(&p->directory),
                                           bench_text(name_of(p->next_name, text)) },
                                .how = { .obj_attributes = { .set_mode = true, .mode = 0644 } } };
    struct CREATE3res res;
    struct bench_fh file;
    uint32_t size = LEAST + below(p, MOST - LEAST + 1);

    call(p, PROC_CREATE, &args, &res);
    if (res.status || !res.obj_follows)
        bench_die("CREATE");
    bench_keep(&file, res.obj);
    write_to(p, bench_of(&file), 0, size);
    p->names[p->count] = p->next_name++;
    p->sizes[p->count++] = size;
}

static void look_up(struct postmark *p, uint32_t at, struct bench_fh *file)
{
    char text[16];
    struct LOOKUP3args args = { { bench_of(&p->directory),
                                  bench_text(name_of(p->names[at], text)) } };
    struct LOOKUP3res res;

    call(p, PROC_LOOKUP, &args, &res);
    if (res.status)
        bench_die("LOOKUP");
    bench_keep(file, res.object);
}

static void delete(struct postmark *p)
{
    uint32_t at = below(p, p->count);
    char text[16];
    struct bench_fh file;
    struct REMOVE3args args;
    struct REMOVE3res res;

    look_up(p, at, &file);
    args = (struct REMOVE3args){ { bench_of(&p->directory),
                                   bench_text(name_of(p->names[at], text)) } };
    call(p, PROC_REMOVE, &args, &res);
    if (res.status)
        bench_die("REMOVE");
    p->names[at] = p->names[--p->count];
    p->sizes[at] = p->sizes[p->count];
}

static void read_or_append(struct postmark *p)
{
    uint32_t at = below(p, p->count), more = LEAST + below(p, MOST - LEAST + 1);
    bool appends = below(p, 2) && p->sizes[at] + more <= SIZE_MAX_GROWN;
    struct bench_fh file;
    struct READ3res res;

    look_up(p, at, &file);
    if (appends) {
        write_to(p, bench_of(&file), p->sizes[at], more);
        p->sizes[at] += more;
        return;
    }
    call(p, PROC_READ, &(struct READ3args){ bench_of(&file), 0, p->sizes[at] }, &res);
    if (res.status || res.count != p->sizes[at])
        bench_die("READ");
}

static void make_directory(struct postmark *p, const struct bench_fh *root, uint64_t seed)
{
    char text[48];
    struct MKDIR3args args = { .attributes = { .set_mode = true, .mode = 0755 } };
    struct CREATE3res res;

    snprintf(text, sizeof(text), "postmark-%d-%llu", (int)getpid(), (unsigned long long)seed);
    args.where = (struct diropargs3){ bench_of(root), bench_text(text) };
    bench_call(&p->c, PROC_MKDIR, &args, &res);
    if (res.status || !res.obj_follows)
        bench_die("MKDIR");
    bench_keep(&p->directory, res.obj);
}

/* Nothing is left, so that many runs need no more memory than one. */
static void remove_all(struct postmark *p)
{
    char text[16];
    struct REMOVE3res res;

    while (p->count) {
        struct REMOVE3args args = { { bench_of(&p->directory),
                                      bench_text(name_of(p->names[--p->count], text)) } };

        bench_call(&p->c, PROC_REMOVE, &args, &res);
    }
}

int main(int argc, char **argv)
{
    static struct postmark p;
    struct bench_fh root;
    uint32_t files = argc > 7 ? (uint32_t)atoi(argv[7]) : 500;
    uint64_t transactions = 0;
    int64_t begun, end, now;

    if (argc < 7 || files < 2 || files > FILES_MAX)
        return 2;
    wire_init();
    if (nfs3_structs_init(NULL) < 0 || mount_structs_init(NULL) < 0)
        bench_die("structs");
    p.seed = strtoull(argv[6], NULL, 10);
    bench_mount(argv[1], argv[3], argv[4], &root);
    bench_connect(&p.c, argv[1], argv[2]);
    make_directory(&p, &root, p.seed);
    while (p.count < files)
        create(&p);
    printf("ready\n");
    fflush(stdout);
    getchar();
    p.calls = 0;
    begun = now = loop_clock();
    end = begun + (int64_t)(atof(argv[5]) * 1e9);
    for (; now < end; now = loop_clock(), transactions++) {
        /* the number of files stays about the same */
        if (p.count < 2 || (p.count < 2 * FILES_MAX && below(&p, 2)))
            create(&p);
        else
            delete (&p);
        read_or_append(&p);
    }
    printf("%llu %llu %.6f\n", (unsigned long long)transactions, (unsigned long long)p.calls,
           (double)(now - begun) / 1e9);
    fflush(stdout);
    remove_all(&p);
    close(p.c.fd);
    buf_free(&p.c.in);
    buf_free(&p.c.out);
    return 0;
}
