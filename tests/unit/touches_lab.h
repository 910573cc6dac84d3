/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/touches_lab.h
 *
 * Requests of clients on a few objects that are synchronized, for test_shadow_conflicts.c,
 * test_shadow_known.c and test_shadow_made.c.
 */
#ifndef TOUCHES_LAB_H
#define TOUCHES_LAB_H

#include "shadow/touches.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <xxhash.h>

static struct err err;

/* Ids of the mirror. */
enum { D1 = 1, D2, D3, F, G, OBJECTS_END };

static struct loop *loop; /* does not run */
static struct copy *copy;

/* RFC 1813 s3.3 */
enum {
    SETATTR = 2,
    WRITE = 7,
    CREATE = 8,
    MKDIR = 9,
    REMOVE = 12,
    RMDIR = 13,
    RENAME = 14,
    LINK = 15,
    READDIR = 16
};

static struct bytes handle_of(uint32_t object)
{
    static uint8_t bytes[OBJECTS_END + 1];

    bytes[object] = (uint8_t)object;
    return (struct bytes){ &bytes[object], 1 };
}

static void begin(struct shadow *s)
{
    *s = (struct shadow){ .mirror = mirror_open(UINT64_C(1000000000), &err),
                          .copy = copy,
                          .loop = loop };
    assert_non_null(s->mirror);
    assert_int_equal(requests_begin(s, &err), 0);
    for (uint32_t i = D1; i < OBJECTS_END; i++) {
        struct mirror_object *object = known_object(s, handle_of(i), &err);

        assert_int_equal(object->id, i);
        mirror_set_type(object, i < F ? OBJECT_DIR : OBJECT_REG);
        assert_int_equal(mirror_set_sut_handle(s->mirror, object, handle_of(i), &err), 0);
        assert_int_equal(mirror_set_state(s->mirror, object, MIRROR_SYNCHRONIZED, &err), 0);
    }
}

/* --- requests that succeeded */

struct asking {
    uint32_t procedure, on, to, made, gone, moved;
    const char *name, *name2;
    uint32_t failed, named; /* status; what the name stands for */
    struct sattr3 set;
    uint64_t offset;
    enum createmode3 how;
};

static struct diropargs3 at(uint32_t directory, const char *name)
{
    return (struct diropargs3){ handle_of(directory),
                                { (const uint8_t *)name, name ? (uint32_t)strlen(name) : 0 } };
}

static void write_arguments(const struct asking *a, struct buf *to)
{
    static const uint8_t ten[10];
    struct WRITE3args write = { handle_of(a->on), a->offset, 10, FILE_SYNC, { ten, 10 } };
    struct SETATTR3args set = { .object = handle_of(a->on), .new_attributes = a->set };
    struct CREATE3args create = { at(a->on, a->name),
                                  { .mode = a->how, .obj_attributes = a->set } };
    struct MKDIR3args mkdir = { at(a->on, a->name), a->set };
    struct REMOVE3args remove = { at(a->on, a->name) };
    struct RENAME3args move = { at(a->on, a->name), at(a->to, a->name2) };
    struct LINK3args link = { handle_of(a->on), at(a->to, a->name2) };
    struct READDIR3args list = { .dir = handle_of(a->on), .count = 512 };
    const void *all[22] = {
        [SETATTR] = &set, [WRITE] = &write,   [CREATE] = &create,
        [MKDIR] = &mkdir, [REMOVE] = &remove, [RMDIR] = &remove,
        [RENAME] = &move, [LINK] = &link,     [READDIR] = &list,
    };
    struct xdr_put put = xdr_put_to(to, 4096);

    assert_int_equal(bind_write(nfs3_binding(a->procedure)->arguments, &put, all[a->procedure]), 0);
}

static struct request *ask(struct shadow *s, const struct asking *a, uint64_t begin, uint64_t end)
{
    struct request *r = requests_new(s, &err);
    struct effect *e = &reading_begin(s, r)->effect;
    struct request_rest *rest = r->rest;
    struct buf body = { 0 };

    r->begin = begin;
    r->end = end;
    r->stage = STAGE_ENDED;
    write_arguments(a, &body);
    rest->call = body.data;
    rest->call_len = (uint32_t)body.len;
    *e = (struct effect){ .procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, a->procedure),
                          .arguments_body = { body.data, (uint32_t)body.len },
                          .arguments_length = body.len,
                          .status = STATUS_NONE,
                          .rpc_status = STATUS_NONE };
    effect_decode(e);
    e->rpc_status = 0;
    e->status = a->failed;
    e->succeeded = !a->failed;
    e->object = a->on;
    e->parent = e->roles & ROLE_PARENT ? a->on : 0;
    e->parent2 = a->to;
    e->new_object = a->made;
    rest->objects[TEE_OBJECT] = a->on;
    rest->objects[TEE_PARENT2] = a->to;
    rest->objects[TEE_NEW] = a->made;
    requests_sum_up(r, e);
    assert_int_equal(
        touches_set(s, r, &(struct named){ .gone = a->gone, .moved = a->moved, .first = a->named },
                    &err),
        0);
    return r;
}

/* With all requests. */
static inline void end(struct shadow *s)
{
    s->is_ending = true; /* nothing is forgotten */
    for (uint32_t id = 1; id < s->requests.count; id++)
        requests_free(s, request_at(s, id));
    s->called = (struct request_list){ 0 };
    requests_free_all(s);
    mirror_close(s->mirror);
    known_free_all(s);
}

#endif
