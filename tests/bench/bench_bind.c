/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_bind.c
 *
 * How long it takes to read a message into a C struct and to write it (wire/bind.h), beside walk()
 * with a visitor of all fields and write_body() with a filler that knows the values in order: the
 * best of seven rounds, in nanoseconds.
 *
 *     bench_bind
 */
#include "wire/nfs3_structs.h"
#include "wire/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, ENTRIES = 50, VALUES_MAX = 2000, WRITTEN = 4096 };

/* The values of a message in their order. */
struct values {
    struct fill fills[VALUES_MAX];
    uint32_t count, next;
};

static struct values values;
static volatile uint64_t sink;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int note(void *ctx, const struct visit *v)
{
    (void)ctx;
    if (!v->whole && values.count < VALUES_MAX)
        values.fills[values.count++] =
            (struct fill){ .value = v->value, .bytes = { v->data, v->len } };
    return 0;
}

static int look(void *ctx, const struct visit *v)
{
    *(uint64_t *)ctx += v->value + v->len;
    return 0;
}

static int give(void *ctx, struct fill *fill)
{
    struct values *v = ctx;
    const struct fill *from = &v->fills[v->next++];

    fill->value = from->value;
    fill->bytes = from->bytes;
    return 0;
}

/* One way to read or write a message. */
struct job {
    const struct type *type;
    const struct bound *bound;
    struct buf body, out;
    void *room; /* a struct to read into */
    const void *from;
};

static int walk_it(struct job *j)
{
    uint64_t sum = 0;
    const struct visitor visitor = { look, &sum, 0 };
    struct walk w;
    uint32_t len = (uint32_t)j->body.len;
    int result = walk(&w, j->type, j->body.data, len, len, false, &visitor);

    sink = sum;
    return result;
}

static int read_it(struct job *j)
{
    return (int)bind_read(j->bound, (struct bytes){ j->body.data, (uint32_t)j->body.len }, j->room);
}

static int write_body_it(struct job *j)
{
    const struct filler filler = { give, &values };
    struct xdr_put to = xdr_put_to(&j->out, 1 << 20);
    struct err err;

    j->out.len = 0;
    values.next = 0;
    return write_body(&to, j->type, false, &filler, &err);
}

static int write_it(struct job *j)
{
    struct xdr_put to = xdr_put_to(&j->out, 1 << 20);

    j->out.len = 0;
    return bind_write(j->bound, &to, j->from);
}

static int size_it(struct job *j)
{
    return bind_size(j->bound, j->from) != j->body.len;
}

static void time_one(const char *what, const char *how, int (*run)(struct job *job),
                     struct job *job)
{
    double best = 1e18, start, took;
    unsigned count = 200000000 / (unsigned)(2000 + 20 * job->body.len);

    for (unsigned round = 0; round < ROUNDS; round++) {
        start = now();
        for (unsigned i = 0; i < count; i++)
            if (run(job) != 0)
                abort();
        took = (now() - start) / count;
        best = took < best ? took : best;
    }
    printf("%-28s %-12s %9.1f ns\n", what, how, best);
}

static void bench(const char *what, uint32_t procedure, bool result, const void *from, void *room)
{
    const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);
    const struct nfs3_binding *b = nfs3_binding(procedure);
    struct job job = { .type = result ? p->result : p->arguments,
                       .bound = result ? b->result : b->arguments,
                       .room = room,
                       .from = from };
    const struct visitor visitor = { note, NULL, 0 };
    struct xdr_put to = xdr_put_to(&job.body, 1 << 20);
    struct walk w;

    if (bind_write(job.bound, &to, from) < 0)
        abort();
    values.count = 0;
    if (walk(&w, job.type, job.body.data, (uint32_t)job.body.len, (uint32_t)job.body.len, false,
             &visitor) != WALK_OK)
        abort();
    time_one(what, "walk", walk_it, &job);
    time_one(what, "bind_read", read_it, &job);
    time_one(what, "write_body", write_body_it, &job);
    time_one(what, "bind_write", write_it, &job);
    time_one(what, "bind_size", size_it, &job);
    if (job.out.len != job.body.len || memcmp(job.out.data, job.body.data, job.body.len) != 0)
        abort();
    buf_free(&job.body);
    buf_free(&job.out);
}

int main(void)
{
    static const uint8_t data[WRITTEN];
    static struct entryplus3 entries[ENTRIES], read_entries[ENTRIES];
    const struct bytes handle = { data, 28 }, name = { data, 12 };
    struct GETATTR3res attributes = { .obj_attributes = { .type = NF3REG, .mode = 0644 } }, a;
    struct WRITE3args write = { handle, 0, WRITTEN, FILE_SYNC, { data, WRITTEN } }, w;
    struct READDIRPLUS3res listing = { .dir_attributes.attributes_follow = true,
                                       .entries = { entries, ENTRIES, 0 } };
    struct READDIRPLUS3res l = { .entries = { read_entries, 0, ENTRIES } };
    struct err err;

    if (nfs3_structs_init(&err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    for (uint32_t i = 0; i < ENTRIES; i++)
        entries[i] = (struct entryplus3){ i, name, i, { .attributes_follow = true }, true, handle };
    bench("GETATTR result", 1, true, &attributes, &a);
    bench("READDIRPLUS result of 50", 17, true, &listing, &l);
    bench("WRITE arguments of 4 KiB", 7, false, &write, &w);
    nfs3_structs_free();
    return 0;
}
