/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/kept.h
 *
 * A message body as records keep it: without file contents, and only up to the point where the
 * capture or the valid part of it ends.  Flags say whether the body violates its table.  They were
 * set when all captured bytes were there, and every later reader must come to the same result.
 */
#ifndef NFSDIGEST_RECORD_KEPT_H
#define NFSDIGEST_RECORD_KEPT_H

#include "record/record.h"
#include "wire/walk.h"

struct kept_body {
    struct bytes data;
    uint32_t wire_len; /* means nothing with SIGHTING_HEADER */
    uint32_t flags;    /* SIGHTING_ bits of the message */
};

/* Walks a kept body, as walk (walk.h).  If the body is undamaged (kept_agrees), WALK_MALFORMED,
 * also with walk->surplus, comes exactly when SIGHTING_MALFORMED is set.  If the body was not kept
 * (SIGHTING_OPAQUE), or none of its bytes was captured (SIGHTING_HEADER), visits nothing and
 * returns WALK_TRUNCATED. */
enum walk_result kept_walk(struct walk *walk, const struct type *type, const struct kept_body *body,
                           const struct visitor *visitor);

/* Returns true if the body is as its flags say: whole and well-formed, cut where bytes are missing,
 * or in violation of its table.  If not, *|why| becomes a static text with the reason, and |walk|
 * says where. */
bool kept_agrees(struct walk *walk, const struct type *type, const struct kept_body *body,
                 const char **why);

#endif
