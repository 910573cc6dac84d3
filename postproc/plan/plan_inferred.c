/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_inferred.c
 *
 * Converts the inferred operations of a plan to numbers of the database, with the operations that
 * prove them.
 */
#include "plan/plan_parts.h"

#include <stdlib.h>

/* A nameless object has the number that its entries were shown with, also when the rehearsal makes
 * it. */
static int64_t number_of(const struct plan *p, uint32_t node)
{
    const struct rehearsal *r = &p->rehearsal;
    int64_t number = node ? node_number(r->h, node) : 0;

    if (number >= 0 || -number < r->nameless_cap)
        return number;
    for (uint32_t i = 1; i < r->nameless_cap; i++)
        if (r->nameless[i] == node)
            return -(int64_t)i;
    return 0;
}

/* |said|: by an inference, which knows more of objects that have no node any more. */
static int64_t resolve(const struct plan *p, int64_t said, uint32_t node)
{
    const struct rehearsal *r = &p->rehearsal;

    if (said < 0 && -said < r->nameless_cap && r->named[-said])
        return r->named[-said];
    return said ? said : number_of(p, node);
}

int plan_show_inferred(struct plan *p, const struct rehearsed *r, struct err *err)
{
    static const struct inference made_up;
    const struct spooled *op = r->op;
    const struct effect *e = &op->effect;
    const struct inference *from = op->inference ? op->inference : &made_up;
    struct inference i = { .precedes = e->id,
                           .witness = from->witness,
                           .explained = from->explained,
                           .object = resolve(p, from->object, r->node),
                           .reason = op->inferred,
                           .procedure = (uint8_t)e->procedure->number };
    int result = -1;

    if (e->name.data) {
        i.parent = resolve(p, from->parent, op->node);
        i.name = text_new(e->name);
    }
    if (e->name2.data) {
        i.parent2 = resolve(p, from->parent2, op->node2);
        i.name2 = text_new(e->name2);
    }
    if ((!e->name.data || i.name) && (!e->name2.data || i.name2))
        result = p->host->inferred(p->host->ctx, &i, err);
    else
        err_memory(err, "the plan");
    free(i.name);
    free(i.name2);
    return result < 0 ? -err->code : 0;
}
