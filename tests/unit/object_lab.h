/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/object_lab.h
 *
 * What tests of objects ask a server and have it answer, by names of handles, and what the engine
 * tells of these.
 */
#ifndef NFSDIGEST_TESTS_OBJECT_LAB_H
#define NFSDIGEST_TESTS_OBJECT_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine.h"
#include "lab.h"

static const struct endpoint C = { 0x0a000001, 900 }, S = { 0x0a000009, 2049 };

enum { NOENT = 2, NOTDIR = 20, STALE = 70 }; /* nfsstat3, RFC 1813 s2.6 */

static struct lab lab;
static uint32_t xid;

static inline int open_lab(void **state)
{
    (void)state;
    lab_open(&lab, NULL);
    xid = 0;
    return 0;
}

static inline int close_lab(void **state)
{
    (void)state;
    lab_close(&lab);
    return 0;
}

static inline struct buf call(uint32_t program, uint32_t procedure)
{
    struct buf b = { 0 };

    put_call(&b, ++xid, program, 3, procedure);
    return b;
}

static inline void ask(struct endpoint server, struct buf *b)
{
    lab_udp(&lab, C, server, b);
    b->len = 0;
    put_reply(b, xid, 0);
    put_u32(b, 0); /* OK */
}

/* Sends the reply; the id of the operation, which has the number of its XID here. */
static inline uint64_t answer(struct endpoint server, struct buf *b)
{
    lab_udp(&lab, server, C, b);
    buf_free(b);
    return xid;
}

static inline uint64_t mount(const char *path, const char *handle)
{
    struct endpoint mountd = { S.ip, 20048 };
    struct buf b = call(MOUNT, MNT);

    put_text(&b, path);
    ask(mountd, &b);
    put_text(&b, handle);
    put_u32(&b, 0); /* no flavors */
    return answer(mountd, &b);
}

static inline void put_found(struct buf *b, const char *handle, uint32_t type, uint32_t links)
{
    put_text(b, handle);
    put_u32(b, 1);
    put_linked_attributes(b, type, 5, links);
    put_no_attributes(b);
}

/* Its attributes have |links| links. */
static inline uint64_t lookup_linked(const char *directory, const char *name, const char *handle,
                                     uint32_t type, uint32_t links)
{
    struct buf b = call(NFS, LOOKUP);

    put_name_in(&b, directory, name);
    ask(S, &b);
    put_found(&b, handle, type, links);
    return answer(S, &b);
}

static inline uint64_t lookup(const char *directory, const char *name, const char *handle,
                              uint32_t type)
{
    return lookup_linked(directory, name, handle, type, 1);
}

static inline uint64_t make(uint32_t procedure, const char *directory, const char *name,
                            const char *handle)
{
    struct buf b = call(NFS, procedure);

    put_name_in(&b, directory, name);
    if (procedure == CREATE)
        put_u32(&b, 0); /* UNCHECKED */
    for (int i = 0; i < 6; i++)
        put_u32(&b, 0); /* no sattr3 */
    ask(S, &b);
    put_u32(&b, 1);
    put_text(&b, handle);
    put_some_attributes(&b, procedure == CREATE ? 1 : 2, 6);
    put_no_wcc(&b);
    return answer(S, &b);
}

static inline uint64_t take_away(uint32_t procedure, const char *directory, const char *name)
{
    struct buf b = call(NFS, procedure);

    put_name_in(&b, directory, name);
    ask(S, &b);
    put_no_wcc(&b);
    return answer(S, &b);
}

static inline uint64_t rename_it(const char *from, const char *name, const char *to,
                                 const char *name2)
{
    struct buf b = call(NFS, RENAME);

    put_rename(&b, from, name, to, name2);
    ask(S, &b);
    put_no_wcc(&b);
    put_no_wcc(&b);
    return answer(S, &b);
}

static inline uint64_t hard_link(const char *file, const char *directory, const char *name)
{
    struct buf b = call(NFS, LINK);

    put_text(&b, file);
    put_name_in(&b, directory, name);
    ask(S, &b);
    put_no_attributes(&b);
    put_no_wcc(&b);
    return answer(S, &b);
}

/* |b|: a call, whose results but for their status take |rest| words of 0. */
static inline uint64_t refuse(struct buf *b, uint32_t status, uint32_t rest)
{
    lab_udp(&lab, C, S, b);
    b->len = 0;
    put_reply(b, xid, 0);
    put_u32(b, status);
    while (rest--)
        put_u32(b, 0);
    return answer(S, b);
}

static inline uint64_t fail_lookup(const char *directory, uint32_t status)
{
    struct buf b = call(NFS, LOOKUP);

    put_name_in(&b, directory, "name");
    return refuse(&b, status, 1);
}

static inline uint64_t getattr_of(struct endpoint server, const char *handle, uint32_t type)
{
    struct buf b = call(NFS, GETATTR);

    put_text(&b, handle);
    ask(server, &b);
    put_attributes(&b, type, 5);
    return answer(server, &b);
}

static inline uint64_t getattr_on(struct endpoint server, const char *handle)
{
    return getattr_of(server, handle, 1);
}

static inline uint64_t getattr(const char *handle)
{
    return getattr_on(S, handle);
}

static char text[1024];

static inline const char *path(uint64_t operation)
{
    return lab_path(&lab, lab_operation(&lab, operation)->path, text);
}

static inline const char *path2(uint64_t operation)
{
    return lab_path(&lab, lab_operation(&lab, operation)->path2, text);
}

static inline uint64_t object(const char *handle)
{
    return lab_object(&lab, S.ip, handle);
}

/* What was told of an object in the end. */
static inline const struct record_object *last_word(uint64_t id)
{
    const struct record_object *told = NULL;

    for (uint64_t n = 0; lab_nth(&lab, RECORD_OBJECT, n); n++)
        if (lab_nth(&lab, RECORD_OBJECT, n)->object.id == id)
            told = &lab_nth(&lab, RECORD_OBJECT, n)->object;
    assert_non_null(told);
    return told;
}

static inline int type_of(const char *handle)
{
    return last_word(object(handle))->type;
}

#endif
