/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/handles.h
 *
 * Finds the file handles of a body by the tables, and replaces them.  Used to number objects, to
 * send a request to another server, and to play it on a copy.
 */
#ifndef NFSDIGEST_WIRE_HANDLES_H
#define NFSDIGEST_WIRE_HANDLES_H

#include "wire/xdr_put.h"
#include "wire/walk.h"

struct handle_place {
    const struct field *field; /* its role says which object's handle it is */
    struct bytes handle;       /* in the body */
    uint32_t at;               /* its offset in the body; for handles_replace, in the new body */
};

/* Calls |each| for each file handle (NFS, NFSACL, MOUNT, NLM) of a body that is complete, in the
 * order of the message.  Returns the walk's result; it is WALK_STOPPED if |each| returned non-zero.
 * The parameters are those of walk(). */
struct handle_visitor {
    int (*each)(void *ctx, const struct handle_place *place);
    void *ctx;
};
enum walk_result handles_each(const struct type *type, struct bytes body, uint32_t wire_len,
                              bool elided, const struct handle_visitor *visitor);

/* Appends |body| to |to|, but replaces each handle that is opaque<> (not MOUNT 1's 32 bytes) by the
 * one that |handle| gives.  |place->at| is the offset of the new handle from the body's first byte
 * in |to|.  |handle| returns 0, or non-zero to stop.  If a body is cut or malformed, the rest of it
 * is copied unchanged.  Returns the walk's result; it is WALK_STOPPED also if |to| has a problem.
 */
struct handle_giver {
    int (*handle)(void *ctx, const struct handle_place *place, struct bytes *handle);
    void *ctx;
};
enum walk_result handles_replace(struct xdr_put *to, const struct type *type, struct bytes body,
                                 uint32_t wire_len, bool elided, const struct handle_giver *giver);

#endif
