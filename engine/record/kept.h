/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/kept.h
 *
 * A message body as records keep it: without file contents, and only up to where it was captured
 * or where it violates its table.  Whether it violates its table was decided when the whole of what
 * was captured was there; its flags say it, and everybody who reads it again has to agree.
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
