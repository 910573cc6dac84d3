/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define XID_SPAN INT64_C(60000000000) /* ns: shorter than servers remember calls */

int lint_xid(struct lint *lint, const struct effect *e, struct err *err)
{
    uint64_t h = ((uint64_t)e->flow << 32 | e->xid) * UINT64_C(0x9e3779b97f4a7c15);
    struct lint_xid *x, was;

    if (!e->flow)
        return 0;
    if (!lint->xids && !(lint->xids = calloc(LINT_XIDS, sizeof(*lint->xids))))
        return err_memory(err, "XIDs");
    x = &lint->xids[(h ^ h >> 31) % LINT_XIDS];
    was = *x;
    *x = (struct lint_xid){ e->flow, e->xid, e->id, e->call_time };
    if (was.flow != e->flow || was.xid != e->xid || was.by == e->id || !e->timed ||
        e->call_time - was.called >= XID_SPAN)
        return 0;
    return LINT_SAY(lint, LINT_XID_REUSED, e, was.by, err,
                    "XID 0x%08" PRIx32 " was that of another call %" PRId64 " ms before", e->xid,
                    (e->call_time - was.called) / 1000000);
}
