/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names/recent.h"
#include "base/grow.h"

#include <stdlib.h>

void recent_free(struct recent *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->all[i].waiting);
    free(r->all);
    table_free(&r->waits);
    table_free(&r->by_call);
    *r = (struct recent){ 0 };
}

static uint64_t hash_call(uint64_t frame, uint32_t xid)
{
    uint64_t hash = (frame << 20 ^ xid) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 29;
}

static int place(struct table *table, const struct recent_call *x, uint32_t at, struct err *err)
{
    return table_add(table, hash_call(x->frame, x->xid), at) < 0 ? err_memory(err, "operations")
                                                                 : 0;
}

int recent_add(struct recent *r, const struct recent_call *call, struct err *err)
{
    if (GROW(r->all, r->count, r->cap) < 0)
        return err_memory(err, "operations");
    r->all[r->count] = *call;
    r->waiting += call->waiting != NULL;
    r->count++;
    return call->waiting ? place(&r->waits, call, r->count - 1, err) : 0;
}

int recent_wait(struct recent *r, uint32_t at, struct waiting *waiting, struct err *err)
{
    r->all[at].waiting = waiting;
    r->waiting++;
    return place(&r->waits, &r->all[at], at, err);
}

static struct recent_call *find(const struct recent *r, const struct table *table, uint64_t frame,
                                uint32_t xid, bool waiting)
{
    uint64_t hash = hash_call(frame, xid);
    uint32_t at, slot;

    for (slot = table_first(table, hash, &at); slot != TABLE_NONE;
         slot = table_next(table, hash, &at)) {
        struct recent_call *x = &r->all[slot];

        if (x->frame == frame && x->xid == xid && (!waiting || x->waiting))
            return x;
    }
    return NULL;
}

struct recent_call *recent_waiting(const struct recent *r, uint64_t frame, uint32_t xid)
{
    return find(r, &r->waits, frame, xid, true);
}

int recent_find(struct recent *r, uint64_t frame, uint32_t xid, const struct recent_call **call,
                struct err *err)
{
    int rc = 0;

    for (; rc == 0 && r->indexed < r->count; r->indexed++)
        rc = place(&r->by_call, &r->all[r->indexed], r->indexed, err);
    *call = find(r, &r->by_call, frame, xid, false);
    return rc;
}

int recent_forget(struct recent *r, uint64_t frame, struct err *err)
{
    uint32_t left = 0;
    int rc = 0;

    table_clear(&r->waits);
    table_clear(&r->by_call);
    r->indexed = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!r->all[i].waiting && r->all[i].frame < frame)
            continue;
        r->all[left] = r->all[i];
        if (rc == 0 && r->all[left].waiting)
            rc = place(&r->waits, &r->all[left], left, err);
        left++;
    }
    r->count = left;
    return rc;
}
