/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/verdict_lab.h
 *
 * Steps, replies and what they must show, written word by word as RFC 1813 and schemas/rdump.md
 * have them: nothing here comes from the tables of engine/wire.
 */
#ifndef NFSDIGEST_TESTS_VERDICT_LAB_H
#define NFSDIGEST_TESTS_VERDICT_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/digest.h"
#include "fill/fill.h"
#include "player/verdict.h"
#include "rdump/rdump.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAB_SERVER = 2, LAB_HORIZON = 100 };

struct lab {
    struct script script;
    struct objects *objects;
    struct verdicts *verdicts;
    struct verdict v; /* the last one */
    struct step step; /* the one at hand */
    struct step_more more;
    struct buf arguments, results, links, names; /* of the step */
    struct buf reply;
};

/* --- bytes */

static inline void put_u32(struct buf *to, uint32_t value)
{
    uint8_t bytes[4];

    store_be32(bytes, value);
    assert_int_equal(buf_append(to, bytes, 4), 0);
}

static inline void put_u64(struct buf *to, uint64_t value)
{
    put_u32(to, (uint32_t)(value >> 32));
    put_u32(to, (uint32_t)value);
}

static inline void put_opaque(struct buf *to, const void *data, uint32_t len)
{
    put_u32(to, len);
    assert_int_equal(buf_append(to, data, len), 0);
    assert_int_equal(buf_append(to, "\0\0\0", (4 - len % 4) % 4), 0);
}

static inline void put_text(struct buf *to, const char *text)
{
    put_opaque(to, text, (uint32_t)strlen(text));
}

/* The handle that the target has for an object: 12 bytes. */
static inline void target_handle(uint32_t number, uint8_t handle[12])
{
    memcpy(handle, "handle", 6);
    memset(handle + 6, 0x5a, 2);
    store_be32(handle + 8, number * 2654435761u);
}

static inline void put_handle(struct buf *to, uint32_t number)
{
    uint8_t handle[12];

    target_handle(number, handle);
    put_opaque(to, handle, 12);
}

struct lab_attributes {
    uint32_t type, mode, nlink, uid, gid;
    uint64_t size;
    uint32_t ctime;
};

static inline void put_fattr3(struct buf *to, struct lab_attributes a)
{
    put_u32(to, a.type);
    put_u32(to, a.mode);
    put_u32(to, a.nlink);
    put_u32(to, a.uid);
    put_u32(to, a.gid);
    put_u64(to, a.size);
    put_u64(to, a.size + 512); /* used */
    put_u32(to, 8);            /* rdev */
    put_u32(to, 1);
    put_u64(to, 77);      /* fsid */
    put_u64(to, 1234567); /* fileid */
    put_u64(to, 11);      /* atime */
    put_u64(to, 12);      /* mtime */
    put_u32(to, a.ctime); /* ctime */
    put_u32(to, 999);
}

/* post_op_attr; type 0: absent */
static inline void put_post(struct buf *to, struct lab_attributes a)
{
    put_u32(to, a.type != 0);
    if (a.type)
        put_fattr3(to, a);
}

/* wcc_data without what was before */
static inline void put_wcc(struct buf *to, struct lab_attributes a)
{
    put_u32(to, 0);
    put_post(to, a);
}

/* --- the life of a lab */

static inline struct object *lab_object(struct lab *l, uint32_t number, uint8_t type, uint64_t size)
{
    struct object *o = objects_add(l->objects, number, NULL);
    uint8_t handle[12];

    target_handle(number, handle);
    assert_non_null(o);
    assert_int_equal(
        objects_set_handle(l->objects, LAB_SERVER, o, (struct bytes){ handle, 12 }, NULL), 0);
    o->type = type;
    o->size = size;
    return o;
}

static inline void lab_new(struct lab *l, struct verdict_setup setup, uint32_t copies, bool results)
{
    struct err err;

    memset(l, 0, sizeof(*l));
    wire_init();
    l->script.trace.copies = copies;
    l->script.trace.results = results;
    l->script.trace.horizon = LAB_HORIZON;
    l->objects = objects_open(&err);
    setup.script = &l->script;
    setup.objects = l->objects;
    l->verdicts = verdicts_new(&setup, &err);
    assert_non_null(l->verdicts);
}

static inline void lab_free(struct lab *l)
{
    verdicts_free(l->verdicts);
    objects_close(l->objects);
    buf_free(&l->arguments);
    buf_free(&l->results);
    buf_free(&l->links);
    buf_free(&l->names);
    buf_free(&l->reply);
}

/* Begins a step on |object|; arguments and what it must show follow. */
static inline void step_begin(struct lab *l, uint8_t procedure, uint32_t object)
{
    l->arguments.len = l->results.len = l->links.len = l->names.len = l->reply.len = 0;
    l->more = (struct step_more){ 0 };
    l->step = (struct step){ .procedure = rdump_procedure(procedure),
                             .program = 100003,
                             .server = LAB_SERVER,
                             .number = procedure };
    put_u32(&l->arguments, 4);
    put_u32(&l->arguments, object);
    l->step.value_at = l->arguments.len; /* of a READ: its offset */
}

static inline struct bytes lab_bytes(const struct buf *buf)
{
    return (struct bytes){ buf->data, (uint32_t)buf->len };
}

/* Ends the step; its |results| are hashed, and dropped if the trace has none. */
static inline void step_end(struct lab *l)
{
    l->step.arguments = lab_bytes(&l->arguments);
    l->step.digest = l->results.len ? XXH3_64bits(l->results.data, l->results.len) : 0;
    l->step.more = &l->more;
    if (l->script.trace.results) {
        l->more.results = lab_bytes(&l->results);
        l->more.names = lab_bytes(&l->names);
    }
    l->more.links = lab_bytes(&l->links);
}

/* l->reply as the answer. */
static inline const struct rpc_answer *lab_answer(const struct lab *l)
{
    static struct rpc_header header;
    static struct rpc_answer answer;

    header = (struct rpc_header){ .status = RPC_SUCCESS };
    answer = (struct rpc_answer){ .outcome = RPC_ANSWERED,
                                  .header = &header,
                                  .body = lab_bytes(&l->reply),
                                  .message = lab_bytes(&l->reply) };
    return &answer;
}

static inline enum verdict_class lab_judge(struct lab *l, uint64_t number, uint32_t again)
{
    struct err err;

    assert_int_equal(
        verdict_reply(l->verdicts, number, &l->step, lab_answer(l), again, &l->v, &err), 0);
    return l->v.class;
}

static inline void expect_text(const struct lab *l, const char *words)
{
    if (!strstr(l->v.text, words))
        fail_msg("\"%s\" does not say \"%s\"", l->v.text, words);
}

#endif
