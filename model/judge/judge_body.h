/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_body.h
 *
 * The values of one message body in the order of the message, each with its place.  Replies are
 * compared by them, and requests are recognized by them.
 *
 * Memory: 56 bytes for each value of a message, whose length XDR bounds.  The memory of a body is
 * used again for the next one.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_BODY_H
#define NFSDIGEST_JUDGE_JUDGE_BODY_H

#include "rules/place.h"
#include "record/kept.h"

enum { ELEMENT_NONE = UINT32_MAX };

struct item {
    struct place *place;
    uint64_t value;      /* numbers; times in ns; number of elements of lists */
    const uint8_t *data; /* FIXED, OPAQUE, STRING; lives as long as the message */
    uint32_t len, full_len;
    uint32_t over;    /* the fraction of a time as it was on the wire, if it is invalid: a second or
                       * more (RFC 1813 s2.6 nfstime3); else 0 */
    uint32_t element; /* index in the outermost list, from 0 */
};

struct body {
    struct places *places;
    struct item *items;
    uint32_t count, cap;
    enum walk_result walked; /* WALK_OK also if more bytes follow the end */
    bool surplus;
    bool no_memory;
    bool part; /* WALK_TRUNCATED, and of the last value only a part was captured: of its bytes, or
                * the seconds of a time */
    uint32_t lists[WALK_DEPTH_MAX]; /* while walking: the item of the list at this depth */
};

int body_read(struct body *body, struct places *places, struct kept_body kept, struct err *err);
void body_free(struct body *body);

static inline bool field_is_bytes(const struct field *field)
{
    return field->kind == XDR_FIXED || field->kind == XDR_OPAQUE || field->kind == XDR_STRING;
}

static inline bool field_is_list(const struct field *field)
{
    return field->kind == XDR_LIST || field->kind == XDR_ARRAY;
}

/* Returns the key of a request, from the values that count by [requests].  Equal requests have
 * equal keys.  |data_digest|: digest of file contents; may be NULL. */
uint64_t body_request_key(const struct body *body, const uint8_t *data_digest, size_t digest_len);

#endif
