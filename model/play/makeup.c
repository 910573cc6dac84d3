/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/makeup.c
 *
 * Operations that were not captured, made up: their arguments in XDR, as a caller would send them.
 */
#include "tree/learn_parts.h"
#include "play/trial.h"

#include <stdlib.h>

enum { PROGRAM_NFS = 100003, NFS3_SETATTR = 2, LINK_MAX = 4096 };

/* Arguments under construction. */
struct making {
    struct buf *to;
    uint32_t handle_at[2], handles;
    bool failed;
};

static void put_u32(struct making *m, uint32_t value)
{
    uint8_t bytes[4];

    store_be32(bytes, value);
    m->failed = m->failed || buf_append(m->to, bytes, sizeof(bytes)) < 0;
}

static void put_u64(struct making *m, uint64_t value)
{
    put_u32(m, (uint32_t)(value >> 32));
    put_u32(m, (uint32_t)value);
}

/* Its number is filled in when the operation is played. */
static void put_handle(struct making *m)
{
    put_u32(m, 4);
    m->handle_at[m->handles++] = (uint32_t)m->to->len;
    put_u32(m, 0);
}

static void put_text(struct making *m, struct bytes text)
{
    static const uint8_t zeros[3];

    put_u32(m, text.len);
    m->failed = m->failed || buf_append(m->to, text.data, text.len) < 0 ||
                buf_append(m->to, zeros, -text.len & 3) < 0;
}

static void put_place(struct making *m, struct bytes name)
{
    put_handle(m);
    put_text(m, name);
}

/* sattr3: those of |groups| (bits by enum expect's groups). */
static void put_settings(struct making *m, uint32_t groups, const struct attributes *a)
{
    put_u32(m, groups >> EXPECT_MODE & 1);
    if (groups >> EXPECT_MODE & 1)
        put_u32(m, a->mode & 07777);
    for (int i = 0; i < 2; i++) {
        put_u32(m, groups >> EXPECT_OWNER & 1);
        if (groups >> EXPECT_OWNER & 1)
            put_u32(m, i ? a->gid : a->uid);
    }
    put_u32(m, groups >> EXPECT_SIZE & 1);
    if (groups >> EXPECT_SIZE & 1)
        put_u64(m, a->size);
    put_u32(m, 0); /* atime, mtime: not to be set */
    put_u32(m, 0);
}

static struct spooled *finish(struct making *m, uint32_t number, uint32_t node, uint32_t node2,
                              enum repair_reason reason, struct err *err)
{
    struct bytes arguments = { m->to->data, (uint32_t)m->to->len };
    struct spooled *o;

    if (m->failed) {
        err_set(err, ERR_SYSTEM, "out of memory for operations");
        return NULL;
    }
    o = spooled_new(procedure_find(PROGRAM_NFS, 3, number), arguments, m->handle_at, 0, 0, err);
    if (!o)
        return NULL;
    o->node = node;
    o->node2 = node2;
    o->inferred = (uint8_t)reason;
    o->begun = true;
    return o;
}

static struct making begin(struct rehearsal *r)
{
    r->arguments.len = 0;
    return (struct making){ .to = &r->arguments };
}

struct spooled *makeup_setattr(struct rehearsal *r, uint32_t node, uint32_t groups,
                               const struct attributes *to, struct err *err)
{
    struct making m = begin(r);

    put_handle(&m);
    put_settings(&m, groups, to);
    put_u32(&m, 0); /* no guard */
    return finish(&m, NFS3_SETATTR, node, NODE_NONE, REPAIR_CHANGED, err);
}

struct spooled *makeup_removal(struct rehearsal *r, uint32_t entry, struct err *err)
{
    const struct entry *e = entry_at(r->h, entry);
    struct making m = begin(r);

    put_place(&m, pool_text(e->name));
    return finish(&m, node_is_directory(node_at(r->h, e->node)) ? NFS3_RMDIR : NFS3_REMOVE,
                  e->parent, NODE_NONE, REPAIR_NOT_EMPTY, err);
}

/* A node by its number in inferences. */
static uint32_t node_by(const struct rehearsal *r, int64_t number)
{
    uint32_t node = NODE_NONE;

    if (number > 0 && number < UINT32_MAX)
        node = node_find(r->h, (uint32_t)number);
    else if (number < 0 && -number < r->nameless_cap)
        node = r->named[-number] ? node_find(r->h, r->named[-number]) : r->nameless[-number];
    return node && node_at(r->h, node)->died == TO_THE_END ? node : NODE_NONE;
}

/* What the operation that proves it shows of what was made. */
static uint32_t settings_from(const struct effect *e, int64_t object, struct attributes *a)
{
    const uint32_t all = 1 << EXPECT_MODE | 1 << EXPECT_OWNER;
    enum whose whose = e->new_object == object ? OF_NEW_OBJECT : OF_OBJECT;

    *a = (struct attributes){ 0 };
    if (object <= 0 || (e->new_object != object && e->object != object) ||
        !effect_attributes(e, whose, a))
        return 0;
    return a->type == OBJECT_REG ? all | 1 << EXPECT_SIZE : all;
}

/* The text of a symbolic link is not known, at most its length. */
static void put_link_text(struct making *m, uint64_t len)
{
    static const char unknown[] =
        "unknown/unknown/unknown/unknown/unknown/unknown/unknown/unknown/";
    uint32_t left = len == 0 || len > LINK_MAX ? 1 : (uint32_t)len, padding = -left & 3;

    put_u32(m, left);
    for (uint32_t part; left > 0; left -= part) {
        part = left < sizeof(unknown) - 1 ? left : (uint32_t)sizeof(unknown) - 1;
        m->failed = m->failed || buf_append(m->to, unknown, part) < 0;
    }
    m->failed = m->failed || buf_append(m->to, "\0\0", padding) < 0;
}

/* Of what nobody saw, everybody may read and write it. */
static void put_made(struct making *m, uint32_t procedure, struct bytes name, uint32_t groups,
                     struct attributes *a)
{
    if (!groups) {
        a->mode = procedure == NFS3_MKDIR ? 0777 : 0666;
        groups = 1 << EXPECT_MODE;
    }
    put_place(m, name);
    if (procedure == NFS3_CREATE)
        put_u32(m, 0); /* UNCHECKED */
    if (procedure == NFS3_MKNOD)
        put_u32(m, a->type == OBJECT_UNKNOWN ? (uint32_t)OBJECT_FIFO : a->type);
    put_settings(m, procedure == NFS3_CREATE ? groups : groups & ~(1U << EXPECT_SIZE), a);
    if (procedure == NFS3_SYMLINK)
        put_link_text(m, a->size);
    if (procedure == NFS3_MKNOD && (a->type == OBJECT_BLK || a->type == OBJECT_CHR)) {
        put_u32(m, a->rdev[0]);
        put_u32(m, a->rdev[1]);
    }
}

static struct spooled *make_object(struct rehearsal *r, const struct inference *i,
                                   const struct spooled *before, struct err *err)
{
    uint32_t parent = node_by(r, i->parent), named, groups;
    struct making m = begin(r);
    struct attributes a;
    struct spooled *o;

    if (!parent || !i->name)
        return NULL;
    named = i->object < 0 && -i->object < r->nameless_cap ? r->named[-i->object] : 0;
    groups = settings_from(&before->effect, named ? named : i->object, &a);
    put_made(&m, i->procedure, pool_text(i->name), groups, &a);
    o = finish(&m, i->procedure, parent, NODE_NONE, (enum repair_reason)i->reason, err);
    if (!o)
        return NULL;
    o->effect.new_object = i->object > 0 ? (uint32_t)i->object : named;
    o->nameless = i->object < 0 ? (uint32_t)-i->object : 0;
    return o;
}

struct spooled *makeup_inference(struct rehearsal *r, const struct inference *i,
                                 const struct spooled *before, struct err *err)
{
    uint32_t object = node_by(r, i->object), parent = node_by(r, i->parent);
    uint32_t parent2 = node_by(r, i->parent2);
    struct making m = begin(r);

    switch (i->procedure) {
    case NFS3_REMOVE:
    case NFS3_RMDIR:
        if (!parent || !i->name)
            return NULL;
        put_place(&m, pool_text(i->name));
        break;
    case NFS3_RENAME:
        if (!parent || !i->name || !parent2 || !i->name2)
            return NULL;
        put_place(&m, pool_text(i->name));
        put_place(&m, pool_text(i->name2));
        break;
    case NFS3_LINK:
        if (!object || !parent2 || !i->name2)
            return NULL;
        put_handle(&m);
        put_place(&m, pool_text(i->name2));
        parent = object;
        break;
    default:
        return make_object(r, i, before, err);
    }
    return finish(&m, i->procedure, parent, i->name2 ? parent2 : NODE_NONE,
                  (enum repair_reason)i->reason, err);
}

struct spooled *makeup_partial(struct rehearsal *r, const struct spooled *op, struct err *err)
{
    const struct effect *e = &op->effect;
    struct inference i = { .parent = e->object,
                           .object = e->new_object,
                           .reason = REPAIR_APPEARED,
                           .procedure = e->procedure ? (uint8_t)e->procedure->number : 0 };
    struct spooled *o;

    if (!e->succeeded || !effect_makes_name(e) || !e->new_object)
        return NULL;
    i.name = pool_text_new(e->name);
    if (!i.name) {
        err_set(err, ERR_SYSTEM, "out of memory for operations");
        return NULL;
    }
    o = make_object(r, &i, op, err);
    free(i.name);
    return o;
}
