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

/* As walk (walk.h).  WALK_MALFORMED, also walk->surplus, comes with SIGHTING_MALFORMED and never
 * without, if the body is what it was: kept_agrees.  Nothing is visited of a body that was not
 * kept (SIGHTING_OPAQUE) or of which no byte was captured (SIGHTING_HEADER): WALK_TRUNCATED. */
enum walk_result kept_walk(struct walk *walk, const struct type *type, const struct kept_body *body,
                           const struct visitor *visitor);

/* Whether the body is what its flags say it is: whole and well-formed, cut where bytes are missing,
 * or in violation of its table.  *|why| is otherwise a static text; |walk| says where. */
bool kept_agrees(struct walk *walk, const struct type *type, const struct kept_body *body,
                 const char **why);

#endif
