/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree/repair.h"
#include "base/grow.h"
#include "tree/hierarchy.h"
#include "wire/rpc.h"

#include <stdlib.h>

static const char *const reasons[REPAIR_REASON_MAX] = {
    [REPAIR_GONE] = "name gone",
    [REPAIR_MADE_AGAIN] = "made again",
    [REPAIR_OTHER] = "other object found",
    [REPAIR_APPEARED] = "name appeared",
    [REPAIR_REMOVED_ABSENT] = "absent name removed",
    [REPAIR_EXISTS] = "absent name exists",
    [REPAIR_NOT_EMPTY] = "directory was not empty",
    [REPAIR_STALE] = "handle stale",
    [REPAIR_CHANGED] = "attributes changed",
    [REPAIR_CUT] = "second name cut",
};

static const char *const unplayables[UNPLAYABLE_MAX] = {
    [UNPLAYABLE_NO_CALL] = "no call",     [UNPLAYABLE_NO_REPLY] = "no reply",
    [UNPLAYABLE_PROTECTED] = "protected", [UNPLAYABLE_PARTIAL] = "partial",
    [UNPLAYABLE_MALFORMED] = "malformed", [UNPLAYABLE_REFUSED] = "refused by RPC",
    [UNPLAYABLE_STALE] = "stale handle",  [UNPLAYABLE_SERVER] = "server's own failure",
    [UNPLAYABLE_ORDER] = "out of order",  [UNPLAYABLE_COOKIE] = "unknown cookie",
};

const char *repair_reason_name(enum repair_reason reason)
{
    return reasons[reason];
}

const char *unplayable_name(enum unplayable reason)
{
    return unplayables[reason];
}

void repair_free(struct repair *r)
{
    for (uint32_t i = 1; i <= r->count; i++) {
        free(r->inferences[i].name);
        free(r->inferences[i].name2);
    }
    free(r->inferences);
    memset(r, 0, sizeof(*r));
}

uint32_t repair_add(struct repair *r, const struct inference *inference, struct bytes name,
                    struct bytes name2)
{
    struct inference *to;

    if (GROW_TO(r->inferences, (uint64_t)r->count + 2, r->cap) < 0)
        return 0;
    to = &r->inferences[r->count + 1];
    *to = *inference;
    to->name = name.data ? text_new(name) : NULL;
    to->name2 = name2.data ? text_new(name2) : NULL;
    if ((name.data && !to->name) || (name2.data && !to->name2)) {
        free(to->name);
        free(to->name2);
        return 0;
    }
    return ++r->count;
}

/* RFC 1813 s2.6: what depends on the server's state beside its files. */
static bool is_servers_own(int64_t status)
{
    switch (status) {
    case 5:     /* NFS3ERR_IO */
    case 6:     /* NXIO */
    case 19:    /* NODEV */
    case 28:    /* NOSPC */
    case 69:    /* DQUOT */
    case 10003: /* BAD_COOKIE: cookies are the server's */
    case 10006: /* SERVERFAULT */
    case 10008: /* JUKEBOX */
        return true;
    default:
        return false;
    }
}

enum unplayable unplayable_of(const struct effect *e)
{
    if (e->pairing == CALL_LOST)
        return UNPLAYABLE_NO_CALL;
    if (e->pairing != PAIRED)
        return UNPLAYABLE_NO_REPLY;
    if ((e->call_flags | e->reply_flags) & SIGHTING_OPAQUE)
        return UNPLAYABLE_PROTECTED;
    if (e->rpc_status > RPC_SUCCESS)
        return UNPLAYABLE_REFUSED;
    if (e->arguments == WALK_MALFORMED || e->result == WALK_MALFORMED)
        return UNPLAYABLE_MALFORMED;
    if (e->arguments != WALK_OK ||
        (e->status == STATUS_NONE && e->procedure && e->procedure->result->roles & ROLE_STATUS))
        return UNPLAYABLE_PARTIAL;
    if (e->status == NFS3ERR_STALE || e->status == NFS3ERR_BADHANDLE)
        return UNPLAYABLE_STALE;
    return is_servers_own(e->status) ? UNPLAYABLE_SERVER : PLAYABLE;
}
