/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3_give.c
 *
 * Attributes and handles on their way into results: as they are, or wrong where a fault rule wants
 * them so (net/fault.h).  Nothing here changes the file system.
 */
#include "server/nfs3_parts.h"

#include <string.h>

enum { SECOND = 1000000000 };

bool nfs3_faulty(const struct nfs3_op *op, enum fault_effect effect)
{
    return op->call->effects && fault_has(op->call->effects, effect);
}

static uint64_t value(const struct nfs3_op *op, enum fault_effect effect)
{
    return op->call->effects->value[effect];
}

/* --- attributes */

static void shift(struct nfstime3 *t, int64_t ns)
{
    int64_t sum = (int64_t)t->seconds * SECOND + t->nseconds + ns;

    if (sum < 0)
        sum = 0;
    t->seconds = (uint32_t)(sum / SECOND);
    t->nseconds = (uint32_t)(sum % SECOND);
}

static void spoil(const struct nfs3_op *op, uint32_t object, struct fattr3 *a)
{
    if (nfs3_faulty(op, FAULT_NO_ATIME))
        a->atime = (struct nfstime3){ 0, 0 };
    if (nfs3_faulty(op, FAULT_KEEP_TIMES) && op->before_known && object == op->object) {
        a->mtime = op->before.mtime;
        a->ctime = op->before.ctime;
    }
    if (nfs3_faulty(op, FAULT_SHIFT_TIMES)) {
        int64_t ns = (int64_t)value(op, FAULT_SHIFT_TIMES);

        shift(&a->atime, ns);
        shift(&a->mtime, ns);
        shift(&a->ctime, ns);
    }
    if (nfs3_faulty(op, FAULT_MODE_BITS))
        a->mode ^= (uint32_t)value(op, FAULT_MODE_BITS);
    a->nlink += nfs3_faulty(op, FAULT_LINK_COUNT);
    a->size += nfs3_faulty(op, FAULT_SIZE);
    a->fileid ^= nfs3_faulty(op, FAULT_FILEID) ? UINT64_C(1) << 31 : 0;
    a->fsid ^= nfs3_faulty(op, FAULT_FSID) ? UINT64_C(1) << 31 : 0;
}

void nfs3_give_fattr3(const struct nfs3_op *op, uint32_t object, struct fattr3 *to)
{
    fs_attributes(op->fs, object, to);
    if (op->call->effects)
        spoil(op, object, to);
}

void nfs3_give_attributes(const struct nfs3_op *op, uint32_t object, struct post_op_attr *to)
{
    if (!object || nfs3_faulty(op, FAULT_NO_ATTRIBUTES))
        return;
    to->attributes_follow = true;
    nfs3_give_fattr3(op, object, &to->attributes);
}

void nfs3_give_before(struct nfs3_op *op, uint32_t object, struct wcc_data *to)
{
    if (!object)
        return;
    fs_before(op->fs, object, &to->before);
    if (object == op->object) {
        op->before = to->before;
        op->before_known = true;
    }
    to->before_follows = !nfs3_faulty(op, FAULT_NO_BEFORE);
}

void nfs3_give_after(const struct nfs3_op *op, uint32_t object, struct wcc_data *to)
{
    nfs3_give_attributes(op, object, &to->after);
    if (object && to->before_follows && nfs3_faulty(op, FAULT_BEFORE_CURRENT))
        fs_before(op->fs, object, &to->before);
}

/* --- handles */

struct bytes nfs3_give_handle(struct nfs3_op *op, uint32_t object)
{
    service_handle(op->service, op->export, object, op->made);
    if (nfs3_faulty(op, FAULT_HANDLE))
        op->made[HANDLE_LENGTH - 1] ^= 1;
    return (struct bytes){ op->made, HANDLE_LENGTH };
}
