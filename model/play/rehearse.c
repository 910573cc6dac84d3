/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse.c
 *
 * The order in which operations are played: which of those that overlap comes next.  Contract:
 * rehearse.h; how one of them is played is in rehearse_try.c.
 */
#include "play/rehearse.h"
#include "play/rehearse_parts.h"

#include <stdlib.h>

static int no_memory(struct err *err)
{
    return err_memory(err, "the rehearsal");
}

static int by_operation(const void *left, const void *right, void *ctx)
{
    const struct repair *repair = ctx;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int64_t x = repair->inferences[a].precedes, y = repair->inferences[b].precedes;

    return x != y ? (x < y ? -1 : 1) : a < b ? -1 : 1;
}

/* Nodes that were there get the first numbers. */
static bool number_nodes(struct rehearsal *r)
{
    if (!play_nodes_begin(&r->nodes, r->h->nodes.count, 0))
        return false;
    for (uint32_t i = 1; i < r->h->nodes.count; i++) {
        struct node *n = node_at(r->h, i);

        if (!(n->flags & NODE_USED))
            continue;
        play_nodes_begin(&r->nodes, i, ++r->objects); /* there is room */
        n->mode &= 07777;                             /* some servers put the type beside it */
        if (n->flags & NODE_NAMELESS)
            r->nameless[n->object] = i;
        else
            r->numbers[n->object] = r->objects;
    }
    return true;
}

int rehearsal_init(struct rehearsal *r, struct hierarchy *h, const struct repair *repair,
                   uint32_t *named, struct err *err)
{
    r->h = h;
    r->repair = repair;
    r->named = named;
    r->waiting_end = &r->waiting;
    r->number_cap = h->object_cap + 1;
    r->nameless_cap = h->nameless + 1;
    r->numbers = calloc(r->number_cap, sizeof(*r->numbers));
    r->nameless = calloc(r->nameless_cap, sizeof(*r->nameless));
    r->above = malloc(ATTEMPT_ABOVE * sizeof(*r->above));
    r->order = malloc(((size_t)repair->count + 1) * sizeof(*r->order));
    if (!r->numbers || !r->nameless || !r->above || !r->order)
        return no_memory(err);
    for (uint32_t i = 0; i < repair->count; i++)
        r->order[i] = i + 1;
    qsort_r(r->order, repair->count, sizeof(*r->order), by_operation, (void *)repair);
    return number_nodes(r) ? 0 : no_memory(err);
}

void rehearsal_free(struct rehearsal *r)
{
    while (r->waiting) {
        struct spooled *next = r->waiting->next;

        free(r->waiting);
        r->waiting = next;
    }
    play_nodes_free(&r->nodes);
    free(r->numbers);
    free(r->nameless);
    free(r->named);
    free(r->behind);
    free(r->above);
    free(r->order);
    callers_free(&r->callers);
    cookies_free(&r->cookies);
    buf_free(&r->digest);
    buf_free(&r->links);
    buf_free(&r->names);
    buf_free(&r->kept);
    buf_free(&r->uses);
    buf_free(&r->arguments);
    memset(r, 0, sizeof(*r));
}

uint32_t rehearsal_number(const struct rehearsal *r, uint32_t node)
{
    return play_node_at(&r->nodes, node_final(r->h, node))->number;
}

static void put_aside(struct rehearsal *r, struct spooled *op)
{
    op->next = NULL;
    *r->waiting_end = op;
    r->waiting_end = &op->next;
    r->waiting_count++;
}

/* Takes the one at |at| out of those that wait. */
static struct spooled *take_out(struct rehearsal *r, struct spooled **at)
{
    struct spooled *op = *at;

    *at = op->next;
    r->waiting_count--;
    if (!*at)
        r->waiting_end = at;
    return op;
}

/* Whether both meet some object. */
static bool share(const struct attempt *a, const struct attempt *b)
{
    return attempt_met(a, b->object) || attempt_met(a, b->object2) || attempt_met(a, b->found) ||
           attempt_met(a, b->target);
}

/* Whether both are about one object, as far as handles say. */
static bool are_near(const struct effect *a, const struct effect *b)
{
    return a->object == b->object || (a->parent2 && a->parent2 == b->object) ||
           (b->parent2 && (b->parent2 == a->object || b->parent2 == a->parent2)) ||
           (a->new_object && a->new_object == b->object) ||
           (b->new_object && b->new_object == a->object);
}

/* An attempt at a change; whether it fits now. */
static bool fits_now(struct attempt *t, struct rehearsal *r, struct spooled *op, struct err *err)
{
    attempt_meet(t, r, op, err);
    if (!attempt_fits(t) || attempt_needs_empty(t))
        return false;
    attempt_predict(t);
    return attempt_misfits(t) == 0;
}

/* Whether one of two changes came first by what they show of an object that both met. */
static bool shows_earlier(const struct effect *a, enum whose of_a, const struct effect *b,
                          enum whose of_b)
{
    struct attributes_before before[2];
    struct attributes after[2];

    if (effect_before(a, of_a, &before[0]) && effect_before(b, of_b, &before[1]) &&
        before[0].ctime != before[1].ctime)
        return before[0].ctime < before[1].ctime;
    return effect_attributes(a, of_a, &after[0]) && effect_attributes(b, of_b, &after[1]) &&
           after[0].ctime < after[1].ctime;
}

/* The same by any object: by the server's clock. */
static bool is_earlier(const struct effect *a, const struct effect *b)
{
    const uint32_t met_a[] = { [OF_OBJECT] = a->parent ? 0 : a->object,
                               [OF_PARENT] = a->parent,
                               [OF_PARENT2] = a->parent2,
                               [OF_NEW_OBJECT] = a->new_object };
    const uint32_t met_b[] = { [OF_OBJECT] = b->parent ? 0 : b->object,
                               [OF_PARENT] = b->parent,
                               [OF_PARENT2] = b->parent2,
                               [OF_NEW_OBJECT] = b->new_object };

    for (int i = OF_OBJECT; i <= OF_NEW_OBJECT; i++)
        for (int k = OF_OBJECT; k <= OF_NEW_OBJECT; k++)
            if (met_a[i] && met_a[i] == met_b[k] &&
                shows_earlier(a, (enum whose)i, b, (enum whose)k))
                return true;
    return false;
}

/* A change that waits, fits now and came before |op|, which fits now, too: by the server's clock,
 * or because it would not fit any more behind |op|, which would fit behind it.  NULL: there is
 * none. */
static struct spooled **must_precede(struct rehearsal *r, struct spooled *op, struct err *err)
{
    struct attempt t, other;

    if (!fits_now(&t, r, op, err))
        return NULL;
    for (struct spooled **at = &r->waiting; *at; at = &(*at)->next) {
        struct spooled *o = *at;

        if (o == op || !rehearse_changes(r, o, err) || !are_near(&op->effect, &o->effect) ||
            !fits_now(&other, r, o, err))
            continue;
        if (is_earlier(&op->effect, &o->effect))
            continue;
        if (is_earlier(&o->effect, &op->effect) ||
            (!attempt_fits_after(&t, o) && attempt_fits_after(&other, op)))
            return at;
    }
    return NULL;
}

/* Carries out what must come before a change. */
static int precede(struct rehearsal *r, struct spooled *op, struct err *err)
{
    struct spooled **at, **before;

    if (!op->begun && rehearse_has_before(op) && rehearse_begin(r, op, err) < 0)
        return -err->code;
    while ((at = must_precede(r, op, err)) != NULL) {
        struct spooled *o;
        int result;

        for (uint32_t i = 0; i < r->waiting_count && (before = must_precede(r, *at, err)); i++)
            at = before;
        o = take_out(r, at);
        result = rehearse_try(r, o, false, err);
        if (result == 0)
            put_aside(r, o);
        else
            free(o);
        if (result <= 0)
            return result;
    }
    return 0;
}

/* Tries those that wait: of changes only those that share an object with |for_whom|, if any.
 * 1: one fitted, and was carried out. */
static int try_one(struct rehearsal *r, struct spooled *for_whom, struct err *err)
{
    struct attempt mine, other;
    int result;

    for (struct spooled **at = &r->waiting; *at; at = &(*at)->next) {
        struct spooled *op = *at;

        if (rehearse_changes(r, op, err)) {
            if (!for_whom)
                continue;
            attempt_meet(&mine, r, for_whom, err);
            attempt_meet(&other, r, op, err);
            if (!share(&mine, &other))
                continue;
        }
        result = rehearse_try(r, op, false, err);
        if (result < 0)
            return result;
        if (result > 0) {
            free(take_out(r, at));
            return 1;
        }
    }
    return 0;
}

/* Others may fit now. */
static int try_waiting(struct rehearsal *r, struct err *err)
{
    int result;

    while ((result = try_one(r, NULL, err)) > 0)
        ;
    return result;
}

/* An operation whose time is up: if it does not fit, changes that were under way at the same time
 * may have come before it. */
static int carry_out(struct rehearsal *r, struct spooled *op, struct err *err)
{
    int result = rehearse_changes(r, op, err) ? precede(r, op, err) : 0, others;

    if (result == 0)
        result = rehearse_try(r, op, false, err);
    while (result == 0 && (others = try_one(r, op, err)) != 0) {
        if (others < 0)
            return others;
        result = rehearse_try(r, op, false, err);
    }
    return result == 0 ? rehearse_try(r, op, true, err) : result;
}

/* Those whose time is up, in the order in which it is. */
static int give_up(struct rehearsal *r, int64_t time, bool all, struct err *err)
{
    for (;;) {
        struct spooled **first = NULL, *op;
        int result;

        for (struct spooled **at = &r->waiting; *at; at = &(*at)->next)
            if (!first || (*at)->effect.done_time < (*first)->effect.done_time)
                first = at;
        if (!first ||
            (!all && (*first)->effect.done_time >= time && r->waiting_count < REHEARSAL_WAITING))
            return 0;
        op = take_out(r, first);
        result = carry_out(r, op, err);
        free(op);
        if (result < 0 || try_waiting(r, err) < 0)
            return -err->code;
    }
}

int rehearse(struct rehearsal *r, struct spooled *op, struct err *err)
{
    int result = 0;

    if (r->waiting && give_up(r, op->effect.call_time, false, err) < 0) {
        free(op);
        return -err->code;
    }
    /* whatever changes nothing may come as soon as it fits; changes, as late as they can */
    if (!rehearse_changes(r, op, err))
        result = rehearse_try(r, op, false, err);
    if (result == 0)
        put_aside(r, op);
    else
        free(op);
    return result < 0 ? result : 0;
}

int rehearsal_end(struct rehearsal *r, struct err *err)
{
    return give_up(r, INT64_MAX, true, err);
}
