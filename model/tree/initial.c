/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/initial.c
 *
 * Finds the attributes that objects had at the tree's moment, from those attributes in operations
 * that were still unchanged since then.  The contract is in initial.h.
 */
#include "tree/initial.h"

#include <stdlib.h>

enum {
    KNOWS_ATTRIBUTES = KNOWS_ALL & ~KNOWS_LINK,
    KNOWS_BEFORE = KNOWS_SIZE | KNOWS_MTIME | KNOWS_CTIME,
};

/* What the operation changes of its object, and of its directories. */
static uint16_t changes_object(const struct effect *e)
{
    uint16_t bits = effect_reads_contents(e) ? KNOWS_ATIME : 0;

    if (!(e->object_role & ROLE_MODIFIES))
        return bits;
    bits |= KNOWS_CTIME;
    switch (effect_action(e)) {
    case ACTION_MAKE:
    case ACTION_REMOVE:
    case ACTION_RENAME:
        return bits | KNOWS_MTIME | KNOWS_SIZE | KNOWS_NLINK;
    case ACTION_LINK:
        return bits | KNOWS_NLINK;
    case ACTION_WRITE:
        return bits | KNOWS_SIZE | KNOWS_MTIME;
    case ACTION_SET:
        return (uint16_t)(bits | KNOWS_ATIME | KNOWS_MTIME |
                          (e->asked.bits & ASKED_MODE ? KNOWS_MODE : 0) |
                          (e->asked.bits & ASKED_UID ? KNOWS_UID | KNOWS_MODE : 0) |
                          (e->asked.bits & ASKED_GID ? KNOWS_GID | KNOWS_MODE : 0) |
                          (e->asked.bits & ASKED_SIZE ? KNOWS_SIZE : 0));
    default:
        return bits | KNOWS_MODE; /* an access list */
    }
}

static void taint(struct hierarchy *h, uint32_t id, const struct effect *e, uint16_t bits)
{
    struct node *n = id ? node_at(h, id) : NULL;

    if (!n || !bits || !node_at_moment(h, n))
        return;
    if (e->done_time <= h->moment) { /* to be learned anew */
        node_uncount(h, id);
        n->knows &= (uint16_t)~bits;
        node_count(h, id);
    } else {
        n->tainted |= bits & (uint16_t)~n->knows;
    }
}

void initial_taint(struct hierarchy *h, uint32_t id, const struct effect *e, uint16_t bits)
{
    taint(h, id, e, bits);
}

int initial_called(struct hierarchy *h, const struct effect *e, struct err *err)
{
    bool unanswered = e->status == STATUS_NONE && e->rpc_status <= 0;
    uint16_t bits;
    uint32_t id;

    if (!e->procedure || (!e->succeeded && !unanswered))
        return 0;
    bits = e->object ? changes_object(e) : 0;
    if (bits) {
        id = e->succeeded ? node_get(h, e->object, BEGINNING, e->done_time, e->id)
                          : node_find(h, e->object);
        if (!id && e->succeeded)
            return err_memory(err, "the hierarchy");
        taint(h, id, e, bits);
    }
    if (e->parent2 && e->parent2_role & ROLE_MODIFIES)
        taint(h, node_find(h, e->parent2), e, KNOWS_MTIME | KNOWS_CTIME | KNOWS_SIZE | KNOWS_NLINK);
    return 0;
}

/* Those of |bits| that |from| knows. */
static void take(struct node *n, const struct attributes *from, uint32_t bits)
{
    if (bits & KNOWS_MODE)
        n->mode = from->mode;
    if (bits & KNOWS_UID)
        n->uid = from->uid;
    if (bits & KNOWS_GID)
        n->gid = from->gid;
    if (bits & KNOWS_SIZE) {
        n->size = from->size;
        n->flags &= (uint8_t)~NODE_AT_LEAST;
    }
    if (bits & KNOWS_ATIME)
        n->atime = from->atime;
    if (bits & KNOWS_MTIME)
        n->mtime = from->mtime;
    if (bits & KNOWS_CTIME)
        n->ctime = from->ctime;
    if (bits & KNOWS_NLINK)
        n->nlink = from->nlink;
    if (bits & KNOWS_RDEV) {
        n->rdev[0] = from->rdev[0];
        n->rdev[1] = from->rdev[1];
    }
    n->knows |= (uint16_t)bits;
}

/* What was shown after a change says what there was before it, as far as names tell. */
static uint32_t links_before(const struct hierarchy *h, const struct node *n, uint32_t links)
{
    bool is_directory = node_is_directory(n);
    uint32_t made = 0;

    for (uint32_t id = is_directory ? n->children : n->names; id;) {
        const struct entry *e = entry_at(h, id);

        made += e->start > h->moment && (!is_directory || node_is_directory(node_at(h, e->node)));
        id = is_directory ? e->after : e->next;
    }
    return links > made ? links - made : links;
}

/* What could be learned of |n| from this operation. */
static uint32_t wanted(const struct hierarchy *h, const struct node *n, const struct effect *e)
{
    if (!node_at_moment(h, n))
        return n->type ? 0 : KNOWS_RDEV;
    if (e->done_time <= h->moment)
        return KNOWS_ATTRIBUTES;
    return KNOWS_ATTRIBUTES & (~(uint32_t)n->knows | (n->flags & NODE_AT_LEAST ? KNOWS_SIZE : 0));
}

void initial_learn(struct hierarchy *h, uint32_t id, const struct effect *e,
                   const struct attributes *a)
{
    struct node *n = node_at(h, id);
    uint32_t bits = wanted(h, n, e);

    if (!bits)
        return;
    node_uncount(h, id);
    if (a->type)
        n->type = a->type;
    if (e->done_time <= h->moment)
        n->tainted = 0;
    if (node_at_moment(h, n)) {
        if (n->tainted & bits && n->tainted & bits & ~(uint32_t)KNOWS_ATIME)
            n->flags |= NODE_GUESSED;
        take(n, a, bits);
        n->guessed = (uint16_t)((n->guessed & ~bits) | (n->tainted & bits));
        if (n->guessed & bits & KNOWS_NLINK)
            n->nlink = links_before(h, n, a->nlink);
    }
    node_count(h, id);
}

/* What the reply to a change tells of before.  Of changes at the same time the earliest one counts,
 * by the server's clock. */
static void learn_before(struct hierarchy *h, uint32_t id, const struct effect *e, enum whose whose)
{
    struct node *n = node_at(h, id);
    struct attributes_before before;
    struct attributes a = { 0 };
    uint32_t bits = KNOWS_BEFORE & (~(uint32_t)n->knows | n->tainted);

    if (!effect_before(e, whose, &before))
        return;
    if (n->changed != INT64_MAX) {
        if (e->call_time > n->changed || before.ctime >= n->ctime)
            return;
        bits = KNOWS_BEFORE;
    }
    if (!bits)
        return;
    a.size = before.size;
    a.mtime = before.mtime;
    a.ctime = before.ctime;
    node_uncount(h, id);
    take(n, &a, bits);
    n->tainted &= (uint16_t)~bits;
    n->guessed &= (uint16_t)~bits;
    node_count(h, id);
}

static bool is_changed(const struct effect *e, enum whose whose)
{
    if (!e->succeeded || whose == OF_NEW_OBJECT)
        return false;
    return (whose == OF_PARENT2 ? e->parent2_role : e->object_role) & ROLE_MODIFIES;
}

static void learn_read(struct hierarchy *h, uint32_t id, const struct effect *e)
{
    struct node *n = node_at(h, id);
    uint64_t end = e->offset + e->done;

    if (!e->succeeded || !(e->result_roles & ROLE_DATA) || !e->has_done || end < e->offset ||
        !node_at_moment(h, n) || n->tainted & KNOWS_SIZE ||
        (n->knows & KNOWS_SIZE && !(n->flags & NODE_AT_LEAST)))
        return;
    if (!e->eof && n->knows & KNOWS_SIZE && end <= n->size)
        return;
    node_uncount(h, id);
    n->size = end;
    n->knows |= KNOWS_SIZE;
    n->flags &= (uint8_t)~NODE_AT_LEAST;
    if (!e->eof)
        n->flags |= NODE_AT_LEAST;
    if (!n->type)
        n->type = OBJECT_REG;
    node_count(h, id);
}

int initial_done(struct hierarchy *h, const struct effect *e, struct err *err)
{
    const uint32_t objects[] = { [OF_OBJECT] = e->object,
                                 [OF_PARENT] = e->parent,
                                 [OF_PARENT2] = e->parent2,
                                 [OF_NEW_OBJECT] = e->new_object };
    struct attributes a;
    uint32_t id;

    for (int i = OF_OBJECT; i <= OF_NEW_OBJECT; i++) {
        enum whose whose = (enum whose)i;
        struct node *n;

        id = e->fattr3[i] || e->wcc_attr[i] || is_changed(e, whose) ? node_find(h, objects[i]) : 0;
        if (!id)
            continue;
        n = node_at(h, id);
        if (e->done_time > h->moment && node_at_moment(h, n))
            learn_before(h, id, e, whose);
        if (e->done_time > h->moment && n->changed == INT64_MAX && is_changed(e, whose))
            n->changed = e->done_time;
        if (wanted(h, n, e) && effect_attributes(e, whose, &a))
            initial_learn(h, id, e, &a);
    }
    id = node_find(h, e->object);
    if (!id)
        return 0;
    learn_read(h, id, e);
    if (e->result_roles & ROLE_LINK_TEXT && e->link_text.data &&
        !(node_at(h, id)->knows & KNOWS_LINK)) {
        struct node *n = node_at(h, id);

        n->link = text_new(e->link_text);
        if (!n->link)
            return err_memory(err, "the hierarchy");
        n->knows |= KNOWS_LINK;
    }
    return 0;
}
