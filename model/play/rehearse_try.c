/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse_try.c
 *
 * Plays one operation, if it fits.  Operations that must have happened unseen come before it.  At
 * its last try, it is made to fit or marked.  For rehearse.c; see rehearse_parts.h.
 */
#include "play/made_up.h"
#include "play/rehearse_parts.h"

#include <stdlib.h>

enum {
    /* groups that a SETATTR sets, and those that none can set right once they are not */
    ALWAYS = 1 << EXPECT_MODE | 1 << EXPECT_OWNER | 1 << EXPECT_SIZE,
    FOR_GOOD = 1 << EXPECT_TYPE | 1 << EXPECT_NLINK | 1 << EXPECT_LINKS,
};

/* Plays what was made up, which is freed, at the time of |before|; what does not fit is left out.
 */
static int play_made_up(struct rehearsal *r, struct spooled *o, const struct spooled *before,
                        struct err *err)
{
    struct attempt t;
    int result = 0;

    o->effect.id = before->effect.id;
    o->effect.call_time = before->effect.call_time;
    /* it came before, so it races with nobody */
    o->effect.done_time = before->effect.call_time - 1;
    o->effect.server_number = before->effect.server_number;
    o->effect.client_number = before->effect.client_number;
    o->effect.rpc_status = 0;
    o->effect.succeeded = true;
    o->effect.pairing = 0;
    attempt_meet(&t, r, o, err);
    if (attempt_fits(&t) && !attempt_needs_empty(&t)) {
        o->effect.credential = rehearse_entitled(&t, before);
        attempt_predict(&t);
        r->inferred[o->inferred]++;
        result = attempt_apply(&t, 0, 0);
    } else {
        r->superfluous++;
    }
    free(o);
    return result;
}

/* The first of the inferences that precede it, as an index of |order|. */
static uint32_t inferences_before(const struct rehearsal *r, int64_t operation)
{
    uint32_t low = 0, high = r->repair->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (r->repair->inferences[r->order[mid]].precedes < operation)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool rehearse_has_before(const struct spooled *op)
{
    return !op->unplayable || op->unplayable == UNPLAYABLE_STALE ||
           op->unplayable == UNPLAYABLE_PARTIAL;
}

int rehearse_begin(struct rehearsal *r, struct spooled *op, struct err *err)
{
    op->begun = true;
    for (uint32_t k = inferences_before(r, op->effect.id); k < r->repair->count; k++) {
        const struct inference *i = &r->repair->inferences[r->order[k]];
        struct spooled *o;

        if (i->precedes != op->effect.id)
            break;
        o = made_up_inference(r, i, op, err);
        if (!o && err->code)
            return -err->code;
        if (!o)
            r->superfluous++;
        else {
            o->inference = i;
            if (play_made_up(r, o, op, err) < 0)
                return -err->code;
        }
    }
    return 0;
}

/* Removes all that is left in the directory that the operation takes away, from below. */
static int empty(struct rehearsal *r, struct attempt *t, struct err *err)
{
    uint32_t directory = t->moves ? t->target : t->found, id;

    while ((id = node_at(r->h, directory)->children) != ENTRY_NONE) {
        struct spooled *o;
        uint64_t superfluous = r->superfluous;

        for (int depth = 0; depth < ATTEMPT_ABOVE; depth++) {
            uint32_t below = node_at(r->h, entry_at(r->h, id)->node)->children;

            if (!below)
                break;
            id = below;
        }
        o = made_up_removal(r, id, err);
        if (!o || play_made_up(r, o, t->op, err) < 0)
            return -err->code;
        if (r->superfluous != superfluous)
            return 0;
    }
    return 0;
}

/* RENAME of a name to itself, or to another one of the same object: RFC 1813 s3.3.14. */
static bool is_idle(struct rehearsal *r, struct spooled *op, struct err *err)
{
    struct attempt t;

    if (!effect_moves(&op->effect))
        return false;
    attempt_meet(&t, r, op, err);
    return t.idle;
}

bool rehearse_changes(struct rehearsal *r, struct spooled *op, struct err *err)
{
    const struct effect *e = &op->effect;

    if (!e->succeeded || op->unplayable || is_idle(r, op, err))
        return false;
    return effect_takes_name(e) || effect_makes_name(e) || effect_makes_name2(e) ||
           effect_action(e) == ACTION_WRITE || effect_changes_rights(e);
}

bool attempt_met(const struct attempt *t, uint32_t node)
{
    return node &&
           (node == t->object || node == t->object2 || node == t->found || node == t->target);
}

/* Whether a change of the object was under way at the same time. */
static bool is_racing(const struct attempt *t, uint32_t node)
{
    struct rehearsal *r = t->r;
    struct attempt other;

    if (play_node_at(&r->nodes, node)->changed >= t->e->call_time)
        return true;
    for (struct spooled *op = r->waiting; op; op = op->next) {
        if (op == t->op || !rehearse_changes(r, op, t->err))
            continue;
        attempt_meet(&other, r, op, t->err);
        if (attempt_met(&other, node))
            return true;
    }
    return false;
}

/* Attributes that differ though nothing was under way: a change of them that was not captured. */
static int explain(struct attempt *t, uint32_t differs, struct err *err)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };

    for (int k = 0; k < 4; k++) {
        uint32_t groups = differs >> k * EXPECT_GROUPS & ALWAYS;
        const struct image *i = groups ? attempt_image(t, order[k]) : NULL;
        struct attributes_before before;
        struct attributes a;
        struct spooled *o;

        if (!i || !i->node || is_racing(t, i->node) || !effect_attributes(t->e, order[k], &a))
            continue;
        if (i->type != OBJECT_REG)
            groups &= ~(1U << EXPECT_SIZE);
        else if (t->resized == i && effect_before(t->e, order[k], &before))
            a.size = before.size;
        if (!groups)
            continue;
        o = made_up_setattr(t->r, i->node, groups, &a, err);
        if (!o || play_made_up(t->r, o, t->op, err) < 0)
            return -err->code;
    }
    return 0;
}

/* Bits that differ and are not asked for, each for its reason. */
static void count_unsure(struct attempt *t, uint32_t differs)
{
    static const enum whose order[] = { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT };

    for (int bit = 0; bit < 32; bit++) {
        bool is_attribute = bit < 4 * EXPECT_GROUPS;
        uint32_t group = 1U << bit % EXPECT_GROUPS;
        const struct image *i;
        bool racing;

        if (!(differs >> bit & 1))
            continue;
        i = attempt_image(t, is_attribute ? order[bit / EXPECT_GROUPS] : OF_OBJECT);
        racing = i && i->node && is_racing(t, i->node);
        t->r->unsure[racing ? UNSURE_RACING : UNSURE_UNSEEN]++;
        if (is_attribute && i && i->node && !racing)
            play_node_at(&t->r->nodes, i->node)->differs |= (uint8_t)(group & FOR_GOOD);
    }
}

/* What it made is needed, though not all of its arguments are known. */
static int make_up_for(struct rehearsal *r, const struct spooled *op, struct err *err)
{
    struct spooled *o = made_up_partial(r, op, err);

    if (o)
        return play_made_up(r, o, op, err);
    return err->code ? -err->code : 0;
}

/* Who took a name away in a sticky directory was the object's owner. */
static int give_to_caller(struct rehearsal *r, struct attempt *t, struct err *err)
{
    const struct caller *c = caller_of(&r->callers, t->e->credential);

    for (int i = 0; i < 2 && attempt_stuck(t); i++) {
        const struct node *n = node_at(r->h, attempt_stuck(t));
        const struct attributes to = { .uid = c->uid,
                                       .gid = n->knows & KNOWS_GID ? n->gid : c->gid };
        struct spooled *o = made_up_setattr(r, attempt_stuck(t), 1 << EXPECT_OWNER, &to, err);

        if (!o || play_made_up(r, o, t->op, err) < 0)
            return -err->code;
    }
    return 0;
}

/* Long since it is the list of what can be wrong with an operation, in the order in which it is
 * decided. */
int rehearse_try(struct rehearsal *r, struct spooled *op, bool last, struct err *err)
{
    struct attempt t;
    uint32_t differs;
    int result;

    hierarchy_sweep(r->h);
    if (!op->begun && rehearse_has_before(op) && rehearse_begin(r, op, err) < 0)
        return -err->code;
    attempt_meet(&t, r, op, err);
    if (op->unplayable == UNPLAYABLE_STALE && attempt_fits(&t))
        op->unplayable = PLAYABLE; /* who was first is known better now */
    if (op->unplayable == UNPLAYABLE_STALE && !last)
        return 0;
    if (op->unplayable == UNPLAYABLE_PARTIAL && make_up_for(r, op, err) < 0)
        return -err->code;
    if (op->unplayable) {
        result = attempt_apply(&t, 0, op->unplayable);
        return result < 0 ? result : 1;
    }
    if (attempt_needs_empty(&t)) {
        if (!last)
            return 0;
        if (empty(r, &t, err) < 0)
            return -err->code;
        attempt_meet(&t, r, op, err);
    }
    if (last && attempt_stuck(&t)) {
        if (give_to_caller(r, &t, err) < 0)
            return -err->code;
        attempt_meet(&t, r, op, err);
    }
    if (!attempt_fits(&t) || attempt_needs_empty(&t)) {
        if (!last)
            return 0;
        t.lenient = true;
        r->overruled += attempt_fits(&t) && !attempt_needs_empty(&t);
        r->out_of_order++;
        result = attempt_apply(&t, 0, UNPLAYABLE_ORDER);
        return result < 0 ? result : 1;
    }
    if (attempt_is_lost(&t)) {
        if (!last)
            return 0;
        result = attempt_apply(&t, 0, UNPLAYABLE_COOKIE);
        return result < 0 ? result : 1;
    }
    attempt_predict(&t);
    differs = attempt_differs(&t);
    if (!last && attempt_misfits(&t))
        return 0;
    if (differs) {
        if (explain(&t, differs, err) < 0)
            return -err->code;
        attempt_meet(&t, r, op, err);
        attempt_predict(&t);
        differs = attempt_differs(&t);
        count_unsure(&t, differs);
    }
    result = attempt_apply(&t, attempt_shown(&t) & ~differs, 0);
    return result < 0 ? result : 1;
}
