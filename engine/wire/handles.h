/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/handles.h
 *
 * The file handles of a body, found by the tables, and bodies with other handles in their place.
 * Used to number objects, to send a request to another server, and to play it on a copy.
 */
#ifndef NFSDIGEST_WIRE_HANDLES_H
#define NFSDIGEST_WIRE_HANDLES_H

#include "wire/xdr_put.h"
#include "wire/walk.h"

struct handle_place {
    const struct field *field; /* its role says whose handle it is */
    struct bytes handle;       /* in the body */
    uint32_t at;               /* where it begins: in the body; for replace, in what was written */
};

/* Calls |each| for each handle of a body that is all there, in the order of the message, file
 * handles (NFS, NFSACL, MOUNT, NLM) only.  Returns what the walk came to; WALK_STOPPED when |each|
 * returned non-zero.  Parameters: walk(). */
struct handle_visitor {
    int (*each)(void *ctx, const struct handle_place *place);
    void *ctx;
};
enum walk_result handles_each(const struct type *type, struct bytes body, uint32_t wire_len,
                              bool elided, const struct handle_visitor *visitor);

/* Writes |body| behind what is in |to|, with what |handle| gives in the place of each handle that
 * is opaque<> (not MOUNT 1's 32 bytes).  |place->at| is where the new one begins, counted from the
 * body's first byte in |to|.  |handle| returns 0, or non-zero to stop.  A body that is cut or
 * malformed is copied from there on as it is.  Returns the walk's result; WALK_STOPPED also for a
 * problem of |to|. */
struct handle_giver {
    int (*handle)(void *ctx, const struct handle_place *place, struct bytes *handle);
    void *ctx;
};
enum walk_result handles_replace(struct xdr_put *to, const struct type *type, struct bytes body,
                                 uint32_t wire_len, bool elided, const struct handle_giver *giver);

#endif
