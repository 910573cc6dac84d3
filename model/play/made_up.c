/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/made_up.c
 *
 * Operations that were not captured, made up: their arguments in XDR, as a caller would send them.
 */
#include "play/made_up.h"
#include "tree/learn_parts.h"
#include "wire/nfs3_numbers.h"
#include "wire/write.h"

#include <stdlib.h>

enum { NFS3_SETATTR = 2, LINK_MAX = 4096 };

/* Arguments under construction, and what they are to say. */
struct making {
    struct xdr_put put;
    uint32_t handle_at[2], handles, devices;
    struct bytes name, name2;
    uint32_t groups; /* attributes to be set: bits by enum expect's groups */
    const struct attributes *attributes;
    struct bytes link_text;
};

/* Whether the attribute of a sattr3 that this union offers is to be set. */
static bool is_set(const struct making *m, const struct field *set_it)
{
    const struct arm *arm = arm_find(set_it->arms, 1);

    switch (arm && arm->type ? arm->type->fields->cls : CLASS_NONE) {
    case CLASS_MODE:
        return m->groups >> EXPECT_MODE & 1;
    case CLASS_UID:
    case CLASS_GID:
        return m->groups >> EXPECT_OWNER & 1;
    case CLASS_SIZE:
        return m->groups >> EXPECT_SIZE & 1;
    default:
        return false; /* no guard */
    }
}

/* The value of a field by what kind of thing it is; of all others 0: times are left alone, a CREATE
 * is UNCHECKED. */
static int fill(void *ctx, struct fill *f)
{
    static const uint8_t number[4]; /* filled in when the operation is played */
    struct making *m = ctx;
    const struct attributes *a = m->attributes;

    switch (f->field->cls) {
    case CLASS_HANDLE:
        m->handle_at[m->handles++] = (uint32_t)m->put.to->len + 4;
        f->bytes = (struct bytes){ number, sizeof(number) };
        break;
    case CLASS_NAME:
        f->bytes = f->field->role & ROLE_NAME2 ? m->name2 : m->name;
        break;
    case CLASS_PATH:
        f->bytes = m->link_text;
        break;
    case CLASS_BOOLEAN:
        f->value = f->field->kind == XDR_UNION && is_set(m, f->field);
        break;
    case CLASS_MODE:
        f->value = a->mode & 07777;
        break;
    case CLASS_UID:
        f->value = a->uid;
        break;
    case CLASS_GID:
        f->value = a->gid;
        break;
    case CLASS_SIZE:
        f->value = a->size;
        break;
    case CLASS_TYPE:
        f->value = a->type == OBJECT_UNKNOWN ? (uint32_t)OBJECT_FIFO : a->type;
        break;
    case CLASS_DEVICE:
        f->value = a->rdev[m->devices++];
        break;
    default:
        break;
    }
    return 0;
}

static struct making begin(struct rehearsal *r)
{
    r->arguments.len = 0;
    return (struct making){ .put = xdr_put_to(&r->arguments, XDR_PUT_ANY_LENGTH) };
}

/* |node|, |node2|: whose handles they begin with. */
static struct spooled *finish(struct making *m, const struct procedure *procedure, uint32_t node,
                              uint32_t node2, enum repair_reason reason, struct err *err)
{
    const struct filler filler = { fill, m };
    struct bytes arguments;
    struct spooled *o;

    if (write_body(&m->put, procedure->arguments, false, &filler, err) < 0)
        return NULL;
    arguments = (struct bytes){ m->put.to->data, (uint32_t)m->put.to->len };
    o = spooled_new(procedure, arguments, m->handle_at, 0, 0, err);
    if (!o)
        return NULL;
    o->node = node;
    o->node2 = node2;
    o->inferred = (uint8_t)reason;
    o->begun = true;
    return o;
}

static const struct procedure *procedure_of(uint32_t number)
{
    return procedure_find(NFS3_PROGRAM, NFS3_VERSION, number);
}

struct spooled *made_up_setattr(struct rehearsal *r, uint32_t node, uint32_t groups,
                                const struct attributes *to, struct err *err)
{
    struct making m = begin(r);

    m.groups = groups;
    m.attributes = to;
    return finish(&m, procedure_of(NFS3_SETATTR), node, NODE_NONE, REPAIR_CHANGED, err);
}

struct spooled *made_up_removal(struct rehearsal *r, uint32_t entry, struct err *err)
{
    const struct entry *e = entry_at(r->h, entry);
    bool is_directory = node_is_directory(node_at(r->h, e->node));
    struct making m = begin(r);

    m.name = text_bytes(e->name);
    return finish(&m, procedure_of(is_directory ? NFS3_RMDIR : NFS3_REMOVE), e->parent, NODE_NONE,
                  REPAIR_NOT_EMPTY, err);
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
static struct bytes unknown_text(uint64_t len, uint8_t text[LINK_MAX])
{
    static const char part[] = "unknown/";
    uint32_t all = len == 0 || len > LINK_MAX ? 1 : (uint32_t)len;

    for (uint32_t i = 0; i < all; i++)
        text[i] = (uint8_t)part[i % (sizeof(part) - 1)];
    return (struct bytes){ text, all };
}

static struct spooled *make_object(struct rehearsal *r, const struct inference *i,
                                   const struct spooled *before, struct err *err)
{
    const struct procedure *procedure = procedure_of(i->procedure);
    uint32_t parent = node_by(r, i->parent), named;
    struct making m = begin(r);
    uint8_t text[LINK_MAX];
    struct attributes a;
    struct spooled *o;

    if (!parent || !i->name || !procedure)
        return NULL;
    named = i->object < 0 && -i->object < r->nameless_cap ? r->named[-i->object] : 0;
    m.groups = settings_from(&before->effect, named ? named : i->object, &a);
    m.attributes = &a;
    m.name = text_bytes(i->name);
    if (!m.groups) { /* of what nobody saw, everybody may read and write it */
        a.mode = procedure->type == OBJECT_DIR ? 0777 : 0666;
        m.groups = 1 << EXPECT_MODE;
    }
    if (procedure->type != OBJECT_REG)
        m.groups &= ~(1U << EXPECT_SIZE);
    if (procedure->type == OBJECT_LNK)
        m.link_text = unknown_text(a.size, text);
    o = finish(&m, procedure, parent, NODE_NONE, (enum repair_reason)i->reason, err);
    if (!o)
        return NULL;
    o->effect.new_object = i->object > 0 ? (uint32_t)i->object : named;
    o->nameless = i->object < 0 ? (uint32_t)-i->object : 0;
    return o;
}

struct spooled *made_up_inference(struct rehearsal *r, const struct inference *i,
                                  const struct spooled *before, struct err *err)
{
    const struct procedure *procedure = procedure_of(i->procedure);
    enum action action = procedure ? (enum action)procedure->action : ACTION_NONE;
    uint32_t object = node_by(r, i->object), parent = node_by(r, i->parent);
    uint32_t parent2 = node_by(r, i->parent2);
    struct making m = begin(r);

    if (!procedure)
        return NULL;
    if (action == ACTION_MAKE)
        return make_object(r, i, before, err);
    if (action == ACTION_LINK)
        parent = object;
    if (!parent || (action_takes_name(action) && !i->name) ||
        (action_makes_name2(action) && (!parent2 || !i->name2)))
        return NULL;
    if (i->name)
        m.name = text_bytes(i->name);
    if (i->name2)
        m.name2 = text_bytes(i->name2);
    return finish(&m, procedure, parent, i->name2 ? parent2 : NODE_NONE,
                  (enum repair_reason)i->reason, err);
}

struct spooled *made_up_partial(struct rehearsal *r, const struct spooled *op, struct err *err)
{
    const struct effect *e = &op->effect;
    struct inference i = { .parent = e->object,
                           .object = e->new_object,
                           .reason = REPAIR_APPEARED,
                           .procedure = e->procedure ? (uint8_t)e->procedure->number : 0 };
    struct spooled *o;

    if (!e->succeeded || !effect_makes_name(e) || !e->new_object)
        return NULL;
    i.name = text_new(e->name);
    if (!i.name) {
        err_memory(err, "operations");
        return NULL;
    }
    o = make_object(r, &i, op, err);
    free(i.name);
    return o;
}
