/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt_result.c
 *
 * Compares the recorded result of an operation with the predicted one.
 */
#include "play/attempt.h"

static uint32_t shown_of(const struct attributes *a)
{
    uint32_t bits = 1 << EXPECT_TYPE | 1 << EXPECT_MODE | 1 << EXPECT_OWNER;

    bits |= a->type == OBJECT_DIR ? 1 << EXPECT_LINKS : 1 << EXPECT_NLINK;
    return a->type == OBJECT_REG || a->type == OBJECT_LNK ? bits | 1 << EXPECT_SIZE : bits;
}

static uint32_t differs_from(const struct image *i, const struct attributes *a)
{
    uint32_t bits = 0;

    if (i->type && i->type != a->type)
        bits |= 1 << EXPECT_TYPE;
    if (i->knows & KNOWS_MODE && i->mode != (a->mode & 07777))
        bits |= 1 << EXPECT_MODE;
    if ((i->knows & KNOWS_UID && i->uid != a->uid) || (i->knows & KNOWS_GID && i->gid != a->gid))
        bits |= 1 << EXPECT_OWNER;
    if (i->knows & KNOWS_NLINK && i->nlink != a->nlink)
        bits |= 1 << EXPECT_NLINK | 1 << EXPECT_LINKS;
    if (i->knows & KNOWS_SIZE && i->size != a->size)
        bits |= 1 << EXPECT_SIZE;
    return bits & shown_of(a);
}

static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };

static bool shows_read(const struct effect *e)
{
    return e->succeeded && e->has_eof && e->has_done && e->result_roles & ROLE_DATA;
}

static bool shows_text(const struct effect *e)
{
    return e->succeeded && e->result_roles & ROLE_LINK_TEXT && e->link_text.data;
}

uint32_t attempt_shown(const struct attempt *t)
{
    struct attributes a;
    uint32_t bits = 0;

    if (effect_action(t->e) == ACTION_ASK_FILE_SYSTEM)
        return 0; /* it depends on no attribute */
    for (int k = 0; k < 4; k++) {
        const struct image *i =
            effect_attributes(t->e, order[k], &a) ? attempt_image(t, order[k]) : NULL;

        if (i)
            bits |= (shown_of(&a) & ~(uint32_t)i->own) << k * EXPECT_GROUPS;
    }
    if (shows_read(t->e) && (t->e->eof || t->e->done == t->e->count))
        bits |= EXPECT_READ;
    if (shows_text(t->e))
        bits |= EXPECT_TEXT;
    return bits;
}

static bool read_differs(const struct attempt *t)
{
    const struct effect *e = t->e;
    const struct image *i = attempt_image(t, OF_OBJECT);
    uint64_t left;

    if (!i || !(i->knows & KNOWS_SIZE))
        return false;
    left = e->offset < i->size ? i->size - e->offset : 0;
    return e->eof ? e->done != (left < e->count ? left : e->count) || e->done < left
                  : e->done >= left;
}

uint32_t attempt_differs(const struct attempt *t)
{
    struct attributes a;
    uint32_t bits = 0;

    for (int k = 0; k < 4; k++) {
        const struct image *i =
            effect_attributes(t->e, order[k], &a) ? attempt_image(t, order[k]) : NULL;

        if (i)
            bits |= differs_from(i, &a) << k * EXPECT_GROUPS;
    }
    if (shows_read(t->e) && read_differs(t))
        bits |= EXPECT_READ;
    if (shows_text(t->e) && t->object) {
        const char *link = node_at(t->r->h, t->object)->link;

        if (!link || text_bytes(link).len != t->e->link_text.len ||
            memcmp(text_bytes(link).data, t->e->link_text.data, t->e->link_text.len) != 0)
            bits |= EXPECT_TEXT;
    }
    return bits;
}

uint32_t attempt_misfits(const struct attempt *t)
{
    uint32_t bits = attempt_differs(t);

    for (int k = 0; bits && k < 4; k++) {
        const struct image *i = attempt_image(t, order[k]);

        if (i && i->node)
            bits &= ~((uint32_t)play_node_at(&t->r->nodes, i->node)->differs << k * EXPECT_GROUPS);
    }
    return bits;
}
