/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/kept.h"

static enum walk_result walk_data(struct walk *w, const struct type *type,
                                  const struct kept_body *body, const struct visitor *visitor)
{
    return walk(w, type, body->data.data, body->data.len, body->wire_len, true, visitor);
}

enum walk_result kept_walk(struct walk *w, const struct type *type, const struct kept_body *body,
                           const struct visitor *visitor)
{
    enum walk_result result;

    if (body->flags & (SIGHTING_OPAQUE | SIGHTING_HEADER)) {
        walk(w, type, NULL, 0, 0, true, NULL);
        w->problem = NULL;
        w->surplus = false;
        return WALK_TRUNCATED;
    }
    result = walk_data(w, type, body, visitor);
    if (body->flags & SIGHTING_MALFORMED) {
        if (result == WALK_TRUNCATED) { /* the value that violates it was not kept */
            w->problem = "the value is not a valid one";
            return WALK_MALFORMED;
        }
        return result == WALK_STOPPED ? result : WALK_MALFORMED;
    }
    if (result == WALK_MALFORMED && w->surplus && body->flags & SIGHTING_PARTIAL) {
        w->problem = NULL; /* what follows the contents was not captured */
        w->surplus = false;
        return WALK_OK;
    }
    return result;
}

bool kept_agrees(struct walk *w, const struct type *type, const struct kept_body *body,
                 const char **why)
{
    enum walk_result result;

    if (body->flags & (SIGHTING_OPAQUE | SIGHTING_HEADER)) {
        kept_walk(w, type, body, NULL);
        *why = "has bytes, though its flags say that none were kept";
        return !body->data.len;
    }
    result = walk_data(w, type, body, NULL);
    if (body->flags & SIGHTING_MALFORMED) {
        *why = "is well-formed, but marked malformed";
        return result != WALK_OK;
    }
    *why = result == WALK_TRUNCATED ? "ends too early, but is not marked partial" : w->problem;
    return result == WALK_OK ||
           (body->flags & SIGHTING_PARTIAL && (result == WALK_TRUNCATED || w->surplus));
}
