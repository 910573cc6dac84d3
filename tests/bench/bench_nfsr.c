/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_nfsr.c
 *
 * What a record costs in the .nfsr codec: nanoseconds an operation record with 150 bytes of
 * arguments and 150 of result, written to memory and read from it, against memcpy of the same
 * stream.  Best of |ROUNDS|.  Run: bench_nfsr [RECORDS]
 */
#include "record/nfsr.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, VARIANTS = 4096, BODY = 150 };

struct source {
    const struct buf *stream;
    size_t at;
};

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

static ssize_t from_memory(void *ctx, void *data, size_t len, struct err *err)
{
    struct source *source = ctx;
    size_t left = source->stream->len - source->at;

    (void)err;
    if (len > left)
        len = left;
    memcpy(data, source->stream->data + source->at, len);
    source->at += len;
    return (ssize_t)len;
}

static int count(void *ctx, const struct record *record, struct err *err)
{
    (void)err;
    *(uint64_t *)ctx += record->operation.reply.frame + record->operation.result.len;
    return 0;
}

/* As a busy NFSv3 client makes them: small steps of frames and times, random XIDs and objects. */
static void make(struct record *r, uint64_t n, const uint8_t *bodies)
{
    struct record_operation *o = &r->operation;
    int64_t now = INT64_C(1700000000000000000) + (int64_t)(n * 40000);

    memset(r, 0, sizeof(*r));
    r->kind = RECORD_OPERATION;
    o->id = n + 1;
    o->flow = 1 + (uint32_t)(next_random() % 16);
    o->xid = (uint32_t)next_random();
    o->program = 100003;
    o->version = 3;
    o->procedure = (uint32_t)(next_random() % 22);
    o->call = (struct sighting){ n * 2 + 1, n * 2 + 1, now, 190, 0 };
    o->reply =
        (struct sighting){ n * 2 + 2, n * 2 + 2, now + (int64_t)(next_random() % 500000), 180, 0 };
    o->credential = 1 + (uint32_t)(next_random() % 3);
    o->object = 1 + next_random() % 100000;
    o->path = 1 + (uint32_t)(next_random() % 100000);
    o->depends_on = next_random() % 2 ? o->id / 2 : 0;
    if (next_random() % 2) {
        o->offset = next_random() % (1u << 30);
        o->count = 32768;
        o->data_length = 32768;
        o->call.flags = SIGHTING_DATA;
        memcpy(o->data_digest, &n, sizeof(n));
    }
    o->arguments = (struct bytes){ bodies + next_random() % 4096, BODY };
    o->result = (struct bytes){ bodies + next_random() % 4096, BODY };
    o->arguments_wire = BODY;
    o->result_wire = BODY;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "bench_nfsr: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000, check = 0;
    static struct record variants[VARIANTS];
    static uint8_t bodies[4096 + BODY];
    double encode = 1e18, decode = 1e18, copy = 1e18, t;
    struct buf stream = { 0 }, other = { 0 };
    struct err err;

    for (size_t i = 0; i < sizeof(bodies); i++)
        bodies[i] = (uint8_t)next_random();
    for (uint64_t n = 0; n < VARIANTS; n++)
        make(&variants[n], n, bodies);
    for (int round = 0; round < ROUNDS; round++) {
        struct source source = { &stream, 0 };
        struct sink counter = { count, &check };
        struct nfsr_writer *writer;
        struct record end = { .kind = RECORD_END };
        struct sink sink;

        stream.len = 0;
        t = now_ns();
        writer = nfsr_writer_new(to_memory, &stream, &err);
        if (!writer)
            return fail(&err);
        sink = nfsr_writer_sink(writer);
        for (uint64_t n = 0; n < records; n++)
            if (sink.put(sink.ctx, &variants[n % VARIANTS], &err) < 0)
                return fail(&err);
        if (sink.put(sink.ctx, &end, &err) < 0)
            return fail(&err);
        nfsr_writer_free(writer);
        if (now_ns() - t < encode)
            encode = now_ns() - t;

        t = now_ns();
        if (nfsr_read_stream(from_memory, &source, "memory", &counter, &err) != 0)
            return fail(&err);
        if (now_ns() - t < decode)
            decode = now_ns() - t;

        other.len = 0;
        if (buf_reserve(&other, stream.len) < 0)
            return 1;
        t = now_ns();
        memcpy(other.data, stream.data, stream.len);
        check += other.data[stream.len / 2];
        if (now_ns() - t < copy)
            copy = now_ns() - t;
    }
    printf("records %llu, bytes a record %.1f (check %llx)\n", (unsigned long long)records,
           (double)stream.len / (double)records, (unsigned long long)check);
    printf("encode %.1f ns a record\ndecode %.1f ns a record\nmemcpy %.1f ns a record\n",
           encode / (double)records, decode / (double)records, copy / (double)records);
    buf_free(&stream);
    buf_free(&other);
    return 0;
}
