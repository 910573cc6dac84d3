/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_lint.c
 *
 * Lint at its bounds: bench_lint [N].  N operations (10 million) on ever new files: LOOKUP of a
 * name, WRITE of two blocks, READ of them, GETATTR, REMOVE of every other name, and ACCESS. Nothing
 * contradicts anything.  Prints operations a second of processor time, and the largest memory.
 * Ends with 1 if there are findings, or memory is above the bound of lint.h.
 */
#include "base/blocks.h"
#include "lint/lint.h"
#include "wire/field.h"
#include "wire/xdr_put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { GETATTR = 1, LOOKUP = 3, ACCESS = 4, READ = 6, WRITE = 7, REMOVE = 12 };
enum { STEPS = 6, DIRECTORIES = 1000, LEN = 2 * BLOCK_SIZE };

struct bench {
    struct lint *lint;
    struct err err;
    struct buf arguments, result;
    struct xdr_put a, r;
    uint64_t findings;
    int64_t now, id;
};

static int take(void *ctx, const struct lint_finding *f, struct err *err)
{
    struct bench *b = ctx;

    (void)err;
    if (b->findings++ == 0)
        fprintf(stderr, "operation %lld: %s\n", (long long)f->effect->id, f->text);
    return 0;
}

static void put_attributes(struct xdr_put *p, uint32_t file)
{
    xdr_put_u32(p, NF3REG);
    xdr_put_u32(p, 0644);
    xdr_put_u32(p, 1);
    xdr_put_u64(p, 0);
    xdr_put_u64(p, LEN);
    xdr_put_u64(p, LEN);
    xdr_put_u64(p, 0);
    xdr_put_u64(p, 7);
    xdr_put_u64(p, file);
    for (int i = 0; i < 3; i++)
        xdr_put_u64(p, UINT64_C(1) << 32);
}

static void put_handle(struct xdr_put *p, uint32_t object)
{
    uint8_t bytes[8] = { 0 };

    store_be32(bytes, object);
    xdr_put_opaque(p, (struct bytes){ bytes, sizeof(bytes) });
}

/* Directories are objects 1 to DIRECTORIES. */
static uint32_t directory_of(uint32_t file)
{
    return 1 + file % DIRECTORIES;
}

static void put_name(struct xdr_put *p, uint32_t file)
{
    char name[16];
    int len = snprintf(name, sizeof(name), "f%u", file);

    xdr_put_opaque(p, (struct bytes){ (const uint8_t *)name, (uint32_t)len });
}

static void put_arguments(struct bench *b, uint32_t procedure, uint32_t file)
{
    bool by_name = procedure == LOOKUP || procedure == REMOVE;

    put_handle(&b->a, by_name ? directory_of(file) : file);
    if (by_name)
        put_name(&b->a, file);
    if (procedure == ACCESS)
        xdr_put_u32(&b->a, 0x3f);
    if (procedure != READ && procedure != WRITE)
        return;
    xdr_put_u64(&b->a, 0);
    xdr_put_u32(&b->a, LEN);
    if (procedure == WRITE) {
        xdr_put_u32(&b->a, FILE_SYNC);
        xdr_put_u32(&b->a, LEN);
    }
}

static void put_result(struct bench *b, uint32_t procedure, uint32_t file)
{
    xdr_put_u32(&b->r, 0);
    if (procedure == LOOKUP)
        put_handle(&b->r, file);
    if (procedure == WRITE || procedure == REMOVE)
        xdr_put_u32(&b->r, 0); /* no attributes of before */
    if (procedure != GETATTR)
        xdr_put_u32(&b->r, procedure != REMOVE); /* whether they follow */
    if (procedure != REMOVE)
        put_attributes(&b->r, file);
    if (procedure == LOOKUP)
        xdr_put_u32(&b->r, 0);
    if (procedure == ACCESS)
        xdr_put_u32(&b->r, 0x3f);
    if (procedure == READ || procedure == WRITE) {
        xdr_put_u32(&b->r, LEN);
        xdr_put_u32(&b->r, procedure == READ ? 1 : FILE_SYNC); /* or the end */
    }
    if (procedure == READ)
        xdr_put_u32(&b->r, LEN); /* records have no contents */
    if (procedure == WRITE)
        xdr_put_u64(&b->r, 1);
}

static void bodies(struct bench *b, struct effect *e)
{
    e->arguments_body = (struct bytes){ b->arguments.data, (uint32_t)b->arguments.len };
    e->result_body = (struct bytes){ b->result.data, (uint32_t)b->result.len };
    e->arguments_length = e->arguments_body.len;
    e->result_length = e->result_body.len;
}

static int run(struct bench *b, uint32_t procedure, uint32_t file)
{
    static const uint8_t digests[2 * BLOCK_DIGEST_LEN] = { 1, 2, 3 };
    bool by_name = procedure == LOOKUP || procedure == REMOVE;
    bool data = procedure == READ || procedure == WRITE;
    struct effect e = { .id = ++b->id,
                        .program = NFS3_PROGRAM,
                        .version = NFS3_VERSION,
                        .procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure),
                        .server_number = 1,
                        .client_number = 1,
                        .credential = 1 + file % 100,
                        .timed = true,
                        .flow = 1,
                        .xid = (uint32_t)b->id,
                        .object = by_name ? directory_of(file) : file,
                        .parent = by_name ? directory_of(file) : 0,
                        .new_object = procedure == LOOKUP ? file : 0,
                        .call_time = b->now += 1000,
                        .has_digest = data,
                        .blocks = { data ? digests : NULL, data ? sizeof(digests) : 0 } };

    b->arguments.len = b->result.len = 0;
    b->a = xdr_put_to(&b->arguments, XDR_PUT_ANY_LENGTH);
    b->r = xdr_put_to(&b->result, XDR_PUT_ANY_LENGTH);
    put_arguments(b, procedure, file);
    put_result(b, procedure, file);
    e.done_time = b->now += 1000;
    e.call_flags = procedure == WRITE ? SIGHTING_DATA : 0;
    e.reply_flags = procedure == READ ? SIGHTING_DATA : 0;
    bodies(b, &e);
    *(procedure == WRITE ? &e.arguments_length : &e.result_length) += data ? LEN : 0;
    effect_decode(&e);
    if (e.arguments != WALK_OK || e.result != WALK_OK)
        return err_set(&b->err, ERR_SYSTEM, "%s is malformed", e.procedure->name);
    return lint_called(b->lint, &e, &b->err) < 0 ? -1 : lint_done(b->lint, &e, &b->err);
}

int main(int argc, char **argv)
{
    static const uint32_t steps[STEPS] = { LOOKUP, WRITE, READ, GETATTR, ACCESS, REMOVE };
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    struct bench b = { .now = 1 };
    struct lint_rules rules;
    struct lint_options options = { .rules = &rules, .finding = take, .ctx = &b };
    struct lint_counts counts;
    struct rusage usage;
    double seconds;

    wire_init();
    if (lint_rules_load(&rules, &b.err) < 0 || !(b.lint = lint_new(&options, &b.err)))
        return fprintf(stderr, "%s\n", b.err.text), 4;
    for (uint32_t file = DIRECTORIES + 1; (uint64_t)b.id < count; file++)
        for (uint32_t i = 0; i < STEPS - (file & 1); i++)
            if (run(&b, steps[i], file) < 0)
                return fprintf(stderr, "%s\n", b.err.text), 4;
    if (lint_end(b.lint, &b.err) < 0)
        return fprintf(stderr, "%s\n", b.err.text), 4;
    counts = lint_counts(b.lint);
    getrusage(RUSAGE_SELF, &usage);
    seconds = (double)clock() / CLOCKS_PER_SEC;
    printf("%lld operations, %.0f a second; %llu objects forgotten, %llu READs compared; %ld MiB\n",
           (long long)b.id, (double)b.id / seconds, (unsigned long long)counts.objects_forgotten,
           (unsigned long long)counts.compared, usage.ru_maxrss / 1024);
    lint_free(b.lint);
    lint_rules_free(&rules);
    buf_free(&b.arguments);
    buf_free(&b.result);
    return b.findings || usage.ru_maxrss / 1024 > LINT_MEMORY_MIB;
}
