/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names/recent.h"
#include "base/grow.h"

#include <stdlib.h>

void recent_free(struct recent *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->all[i].waiting);
    free(r->all);
    table_free(&r->by_call);
    *r = (struct recent){ 0 };
}

static uint64_t hash_call(uint64_t frame, uint32_t xid)
{
    uint64_t hash = (frame << 20 ^ xid) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 29;
}

int recent_add(struct recent *r, const struct recent_call *call, struct err *err)
{
    if (GROW(r->all, r->count, r->cap) < 0 ||
        table_add(&r->by_call, hash_call(call->frame, call->xid), r->count) < 0)
        return err_memory(err, "operations");
    r->all[r->count++] = *call;
    r->waiting += call->waiting != NULL;
    return 0;
}

struct recent_call *recent_find(const struct recent *r, uint64_t frame, uint32_t xid, bool waiting)
{
    uint64_t hash = hash_call(frame, xid);
    uint32_t at, slot;

    for (slot = table_first(&r->by_call, hash, &at); slot != TABLE_NONE;
         slot = table_next(&r->by_call, hash, &at)) {
        struct recent_call *x = &r->all[slot];

        if (x->frame == frame && x->xid == xid && (!waiting || x->waiting))
            return x;
    }
    return NULL;
}

int recent_forget(struct recent *r, uint64_t frame, struct err *err)
{
    uint32_t left = 0;

    table_clear(&r->by_call);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct recent_call x = r->all[i];

        if (!x.waiting && x.frame < frame)
            continue;
        r->all[left] = x;
        if (table_add(&r->by_call, hash_call(x.frame, x.xid), left++) < 0)
            return err_memory(err, "operations"); /* the rest stays, to be freed */
    }
    r->count = left;
    return 0;
}
