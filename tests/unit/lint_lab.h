/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/lint_lab.h
 *
 * Operations for tests of lint.  Bodies are written here from RFC 1813, as records keep them.
 * Each operation is called when it is made; it lives until its place is used again.
 */
#ifndef LINT_LAB_H
#define LINT_LAB_H

#include "lint/lint.h"
#include "wire/field.h"
#include "wire/xdr_put.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    GETATTR = 1,
    SETATTR = 2,
    LOOKUP = 3,
    READ = 6,
    WRITE = 7,
    CREATE = 8,
    MKDIR = 9,
    REMOVE = 12,
    RENAME = 14,
    LINK = 15,
    READDIR = 16,
    COMMIT = 21
};
enum { FILE_1 = 11, FILE_2 = 12, DIR_1 = 21 };

/* An operation on |object|, and its bodies. */
struct op {
    struct effect effect;
    struct buf arguments, result;
    struct xdr_put a, r;
};

struct lab {
    struct lint_rules rules;
    struct lint *lint;
    struct err err;
    char found[512];
    char text[LINT_TEXT_MAX]; /* of the last finding */
    int64_t now, next_id;
    uint8_t digest;     /* of the next contents; 0: it is not known */
    uint8_t blocks[32]; /* digests of the next contents by blocks */
    uint32_t blocks_len;
    struct op ops[4];
    bool reads_one; /* the texts of |read| only */
    enum lint_id read;
    unsigned unread; /* findings without a text */
};

static inline bool is_read(void *ctx, enum lint_id rule)
{
    const struct lab *lab = ctx;

    return !lab->reads_one || rule == lab->read;
}

static inline int take(void *ctx, const struct lint_finding *f, struct err *err)
{
    struct lab *lab = ctx;
    size_t len = strlen(lab->found);

    (void)err;
    snprintf(lab->found + len, sizeof(lab->found) - len, "%s%s", len ? " " : "",
             lab->rules.rule[f->rule].name);
    assert_non_null(f->text);
    if (is_read(lab, f->rule))
        assert_true(*f->text);
    lab->unread += !*f->text;
    snprintf(lab->text, sizeof(lab->text), "%s", f->text);
    return 0;
}

static inline void restart(struct lab *lab, uint32_t room)
{
    const struct lint_options options = { &lab->rules, take, lab, room, room, room, room, is_read };

    lint_free(lab->lint);
    lab->lint = lint_new(&options, &lab->err);
    assert_non_null(lab->lint);
}

static inline int set_up(void **state)
{
    struct lab *lab = calloc(1, sizeof(*lab));

    wire_init();
    assert_int_equal(lint_rules_load(&lab->rules, &lab->err), 0);
    restart(lab, 0);
    *state = lab;
    return 0;
}

static inline int tear_down(void **state)
{
    struct lab *lab = *state;

    for (int i = 0; i < 4; i++) {
        buf_free(&lab->ops[i].arguments);
        buf_free(&lab->ops[i].result);
    }
    lint_free(lab->lint);
    lint_rules_free(&lab->rules);
    free(lab);
    return 0;
}

/* What was found since the last time. */
static inline void expect(struct lab *lab, const char *wanted)
{
    assert_string_equal(lab->found, wanted);
    lab->found[0] = '\0';
}

static inline void put_handle(struct xdr_put *p, uint32_t object)
{
    uint8_t bytes[8] = { 0 };

    store_be32(bytes, object);
    xdr_put_opaque(p, (struct bytes){ bytes, sizeof(bytes) });
}

static inline void put_name(struct op *op, const char *name)
{
    xdr_put_opaque(&op->a, (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) });
}

static inline void put_time(struct xdr_put *p, int64_t ns)
{
    xdr_put_u32(p, (uint32_t)(ns / 1000000000));
    xdr_put_u32(p, (uint32_t)(ns % 1000000000));
}

/* fattr3 as |object| has it. */
struct state {
    uint32_t type, object;
    uint64_t size;
    int64_t mtime;
    uint32_t atime_ns, nlink;
};

static inline void put_fattr3(struct xdr_put *p, const struct state *s)
{
    xdr_put_u32(p, s->type);
    xdr_put_u32(p, 0644);
    xdr_put_u32(p, s->nlink);
    xdr_put_u64(p, 0); /* uid, gid */
    xdr_put_u64(p, s->size);
    xdr_put_u64(p, s->size); /* used */
    xdr_put_u64(p, 0);       /* rdev */
    xdr_put_u64(p, 7);       /* fsid */
    xdr_put_u64(p, s->object);
    xdr_put_u32(p, 1);
    xdr_put_u32(p, s->atime_ns);
    put_time(p, s->mtime);
    put_time(p, s->mtime); /* ctime */
}

static inline void put_post(struct xdr_put *p, const struct state *s)
{
    xdr_put_u32(p, s != NULL);
    if (s)
        put_fattr3(p, s);
}

static inline void put_wcc(struct xdr_put *p, const struct state *before, const struct state *after)
{
    xdr_put_u32(p, before != NULL);
    if (before) {
        xdr_put_u64(p, before->size);
        put_time(p, before->mtime);
        put_time(p, before->mtime);
    }
    put_post(p, after);
}

/* Begins an operation in place |i|; its bodies follow, then call() and done(). */
static inline struct op *begin(struct lab *lab, int i, uint32_t procedure, uint32_t object)
{
    struct op *op = &lab->ops[i];

    buf_free(&op->arguments);
    buf_free(&op->result);
    memset(op, 0, sizeof(*op));
    op->effect.id = ++lab->next_id;
    op->effect.program = NFS3_PROGRAM;
    op->effect.version = NFS3_VERSION;
    op->effect.procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);
    op->effect.server_number = op->effect.client_number = 1;
    op->effect.timed = true;
    op->effect.object = object;
    op->a = xdr_put_to(&op->arguments, XDR_PUT_ANY_LENGTH);
    op->r = xdr_put_to(&op->result, XDR_PUT_ANY_LENGTH);
    put_handle(&op->a, object);
    return op;
}

static inline void take_digest(const struct lab *lab, struct effect *e)
{
    e->has_digest = lab->digest != 0;
    memset(e->digest, lab->digest, sizeof(e->digest));
    e->blocks = (struct bytes){ lab->blocks, lab->blocks_len };
}

static inline void called(struct lab *lab, struct op *op, uint32_t status)
{
    op->effect.status = status;
    op->effect.arguments_body = (struct bytes){ op->arguments.data, (uint32_t)op->arguments.len };
    op->effect.result_body = (struct bytes){ op->result.data, (uint32_t)op->result.len };
    op->effect.arguments_length = op->effect.arguments_body.len;
    op->effect.result_length = op->effect.result_body.len;
    op->effect.call_time = lab->now += 10;
    op->effect.done_time = lab->now + 5;
    effect_decode(&op->effect);
    assert_int_equal(lint_called(lab->lint, &op->effect, &lab->err), 0);
}

static inline void done(struct lab *lab, struct op *op)
{
    op->effect.done_time = lab->now += 10;
    assert_int_equal(lint_done(lab->lint, &op->effect, &lab->err), 0);
}

static inline void run(struct lab *lab, struct op *op, uint32_t status)
{
    called(lab, op, status);
    done(lab, op);
}

static inline struct op *getattr_call(struct lab *lab, int i, const struct state *s)
{
    struct op *op = begin(lab, i, GETATTR, s->object);

    xdr_put_u32(&op->r, 0);
    put_fattr3(&op->r, s);
    called(lab, op, 0);
    return op;
}

static inline void getattr(struct lab *lab, const struct state *s)
{
    done(lab, getattr_call(lab, 0, s));
}

/* A reply whose call was not captured. */
static inline void reply_alone(struct lab *lab)
{
    struct op *op = begin(lab, 0, WRITE, 0);

    op->effect.procedure = NULL;
    op->effect.program = 0;
    run(lab, op, 0);
}

/* A WRITE whose reply was not captured, and of whose call only the handle. */
static inline void write_unanswered(struct lab *lab, uint32_t object)
{
    struct op *op = begin(lab, 0, WRITE, object);

    op->effect.pairing = REPLY_LOST;
    op->effect.rpc_status = STATUS_NONE;
    run(lab, op, 0);
}

static inline void fails(struct lab *lab, uint32_t procedure, uint32_t object, uint32_t status)
{
    struct op *op = begin(lab, 0, procedure, object);

    xdr_put_u32(&op->r, status);
    run(lab, op, status);
}

struct reading {
    uint64_t offset;
    uint32_t asked, count, returned;
    bool eof;
};

static inline struct op *read_call(struct lab *lab, int i, const struct reading *w,
                                   const struct state *s)
{
    struct op *op = begin(lab, i, READ, s->object);

    xdr_put_u64(&op->a, w->offset);
    xdr_put_u32(&op->a, w->asked);
    xdr_put_u32(&op->r, 0);
    put_post(&op->r, s);
    xdr_put_u32(&op->r, w->count);
    xdr_put_u32(&op->r, w->eof);
    xdr_put_u32(&op->r, w->returned); /* records have no contents */
    op->effect.reply_flags = SIGHTING_DATA;
    called(lab, op, 0);
    /* on the wire, the contents follow */
    op->effect.result_length += xdr_padded(w->returned);
    effect_decode(&op->effect);
    take_digest(lab, &op->effect);
    return op;
}

static inline void read_file(struct lab *lab, const struct reading *w, const struct state *s)
{
    done(lab, read_call(lab, 0, w, s));
}

struct writing {
    uint64_t offset;
    uint32_t count, sent, stable, done, committed;
    const char *verifier; /* 8 bytes */
};

static inline struct op *write_call(struct lab *lab, int i, const struct writing *w,
                                    const struct state *before, const struct state *after)
{
    struct op *op = begin(lab, i, WRITE, after->object);

    xdr_put_u64(&op->a, w->offset);
    xdr_put_u32(&op->a, w->count);
    xdr_put_u32(&op->a, w->stable);
    xdr_put_u32(&op->a, w->sent);
    xdr_put_u32(&op->r, 0);
    put_wcc(&op->r, before, after);
    xdr_put_u32(&op->r, w->done);
    xdr_put_u32(&op->r, w->committed);
    xdr_put_fixed(&op->r, (const uint8_t *)(w->verifier ? w->verifier : "verifier"), 8);
    op->effect.status = 0;
    op->effect.arguments_body = (struct bytes){ op->arguments.data, (uint32_t)op->arguments.len };
    op->effect.result_body = (struct bytes){ op->result.data, (uint32_t)op->result.len };
    op->effect.arguments_length = op->effect.arguments_body.len + xdr_padded(w->sent);
    op->effect.result_length = op->effect.result_body.len;
    op->effect.call_time = lab->now += 10;
    op->effect.done_time = lab->now + 5;
    effect_decode(&op->effect);
    assert_int_equal(op->effect.arguments, WALK_OK);
    assert_int_equal(op->effect.result, WALK_OK);
    take_digest(lab, &op->effect);
    assert_int_equal(lint_called(lab->lint, &op->effect, &lab->err), 0);
    return op;
}

static inline void write_file(struct lab *lab, const struct writing *w, const struct state *before,
                              const struct state *after)
{
    done(lab, write_call(lab, 0, w, before, after));
}

struct entry {
    const char *name;
    uint64_t cookie;
};

enum { MORE = '\n' }; /* a name: the listing goes on in the next call */

/* From |cookie| on, to the end or MORE. */
static inline void list(struct lab *lab, uint64_t cookie, uint32_t limit,
                        const struct entry *entries)
{
    struct op *op = begin(lab, 0, READDIR, DIR_1);

    xdr_put_u64(&op->a, cookie);
    xdr_put_u64(&op->a, 0);
    xdr_put_u32(&op->a, limit);
    xdr_put_u32(&op->r, 0);
    put_post(&op->r, NULL);
    xdr_put_u64(&op->r, 0);
    for (; entries->name && *entries->name != MORE; entries++) {
        xdr_put_u32(&op->r, 1);
        xdr_put_u64(&op->r, 5);
        xdr_put_opaque(&op->r, (struct bytes){ (const uint8_t *)entries->name,
                                               (uint32_t)strlen(entries->name) });
        xdr_put_u64(&op->r, entries->cookie);
    }
    xdr_put_u32(&op->r, 0);
    xdr_put_u32(&op->r, entries->name == NULL);
    run(lab, op, 0);
    assert_int_equal(op->effect.result, WALK_OK);
}

static inline void commit(struct lab *lab, uint32_t object, const char *verifier)
{
    struct op *op = begin(lab, 0, COMMIT, object);

    xdr_put_u64(&op->a, 0);
    xdr_put_u32(&op->a, 0);
    xdr_put_u32(&op->r, 0);
    put_wcc(&op->r, NULL, NULL);
    xdr_put_fixed(&op->r, (const uint8_t *)verifier, 8);
    run(lab, op, 0);
}

static inline struct op *setattr(struct lab *lab, uint64_t size, const int64_t *guard)
{
    struct op *op = begin(lab, 0, SETATTR, FILE_1);

    for (int i = 0; i < 3; i++) /* mode, uid, gid */
        xdr_put_u32(&op->a, 0);
    xdr_put_u32(&op->a, 1);
    xdr_put_u64(&op->a, size);
    xdr_put_u64(&op->a, 0); /* times */
    xdr_put_u32(&op->a, guard != NULL);
    if (guard)
        put_time(&op->a, *guard);
    return op;
}

#endif
