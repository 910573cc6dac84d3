/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn_explain.c
 *
 * Operations that overlap: which unfinished operation explains what another one shows, and which of
 * two came first.
 */
#include "tree/learn_parts.h"
#include "base/digest.h"

static uint64_t doubtful_hash(uint32_t parent_object, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, parent_object);
}

static void doubt_name(struct learn *l, const struct effect *e, uint32_t parent, struct bytes name,
                       bool binds)
{
    uint64_t hash;

    if (!parent || !name.data)
        return;
    hash = doubtful_hash(parent, name);
    l->doubtful[hash % LEARN_DOUBTFUL] = (struct doubtful){ hash, e->id, e->call_time, binds };
}

void learn_doubt(struct learn *l, const struct effect *e)
{
    doubt_name(l, e, e->parent, e->name, effect_makes_name(e));
    doubt_name(l, e, e->parent2, e->name2, effect_makes_name2(e));
}

static const struct doubtful *doubtful_find(const struct step *s, uint32_t parent,
                                            struct bytes name)
{
    const struct doubtful *d;
    uint64_t hash;

    if (!name.data)
        return NULL;
    hash = doubtful_hash(node_at(s->h, parent)->object, name);
    d = &s->l->doubtful[hash % LEARN_DOUBTFUL];
    return d->id && d->hash == hash && d->time < s->e->call_time ? d : NULL;
}

int64_t learn_doubtful_id(const struct step *s, uint32_t parent, struct bytes name)
{
    const struct doubtful *d = doubtful_find(s, parent, name);

    return d ? d->id : 0;
}

struct absence learn_absence_of(const struct step *s, uint32_t parent, struct bytes name)
{
    const struct absent *a = absent_find(s->h, parent, name);
    const struct node *p = node_at(s->h, parent);
    const struct doubtful *d;

    if (a)
        return (struct absence){ true, a->since, a->id };
    /* whatever is in a directory that was made here was made after it */
    if (p->born != BEGINNING)
        return (struct absence){ true, p->first_done, p->first_id };
    /* who makes a name finds it absent, most likely */
    d = doubtful_find(s, parent, name);
    if (d && d->binds)
        return (struct absence){ true, d->time, 0 };
    return (struct absence){ false, 0, 0 };
}

static bool is_name(const struct step *s, uint32_t object, struct bytes text, uint32_t parent,
                    struct bytes name)
{
    return object && text.data && text.len == name.len &&
           memcmp(text.data, name.data, name.len) == 0 && node_find(s->h, object) == parent;
}

/* ctime of a directory before an operation, as its reply has it. */
static bool time_before(const struct step *s, const struct effect *e, uint32_t parent,
                        int64_t *time)
{
    struct attributes_before before;
    bool first = e->parent && node_find(s->h, e->parent) == parent;

    if (!first && !(e->parent2 && node_find(s->h, e->parent2) == parent))
        return false;
    if (!effect_before(e, first ? OF_PARENT : OF_PARENT2, &before))
        return false;
    *time = before.ctime;
    return true;
}

/* Whether |o| makes its second name, or its only one, stand for |object|, as far as is known. */
static bool makes(const struct step *s, const struct effect *o, bool first, uint32_t object)
{
    uint32_t id, node = node_find(s->h, object);

    if (!object)
        return true;
    if (first)
        return o->new_object == object || !o->new_object;
    if (!effect_takes_name(o))
        return o->object == object;
    id = entry_find(s->h, node_find(s->h, o->parent), o->name);
    if (!id)
        return !node || !node_at(s->h, node)->names;
    return node ? entry_at(s->h, id)->node == node
                : node_at(s->h, entry_at(s->h, id)->node)->flags & NODE_NAMELESS;
}

static bool explains(const struct step *s, const struct effect *o, bool first, bool second,
                     enum explanation how, uint32_t object)
{
    bool removes = first && effect_takes_name(o);
    bool binds = (first && effect_makes_name(o)) || (second && effect_makes_name2(o));

    switch (how) {
    case IT_BINDS:
        return binds && makes(s, o, first, object);
    case IT_REMOVES:
        return removes;
    case IT_ENDS:
        return removes || second;
    case IT_PRECEDES:
        return true;
    }
    return false;
}

int learn_explain(struct step *s, uint32_t parent, struct bytes name, enum explanation how,
                  uint32_t object)
{
    int64_t now, then;
    bool timed = time_before(s, s->e, parent, &now);

    for (uint32_t i = 0; i < s->l->outstanding_count; i++) {
        struct effect *o = s->l->outstanding[i];
        struct step other = { s->l, s->h, o, s->err };
        bool first, second, both;
        int result;

        if (o->applied || o == s->e)
            continue;
        first = is_name(s, o->parent, o->name, parent, name);
        second = is_name(s, o->parent2, o->name2, parent, name);
        if ((!first && !second) || !explains(s, o, first, second, how, object))
            continue;
        both = timed && time_before(s, o, parent, &then);
        if ((both && then > now) || (how == IT_PRECEDES && !(both && then < now)))
            continue;
        o->applied = true;
        if (o->done_time > s->e->done_time)
            o->done_time = s->e->done_time; /* that is when it shows */
        result = learn_apply(&other);       /* which may explain more: each of them once */
        return result < 0 ? result : 1;
    }
    return 0;
}
