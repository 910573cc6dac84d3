/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded_parts.h
 *
 * Shared by the files of encoded.h.
 */
#ifndef NFSDIGEST_AUDIT_ENCODED_PARTS_H
#define NFSDIGEST_AUDIT_ENCODED_PARTS_H

#include "audit/decode.h"
#include "audit/encoded.h"
#include "audit/audit_parts.h"

enum { ENCODED_RAW = 64 };

struct encoded_hit {
    uint32_t secret;
    uint8_t code;  /* enum decode_code */
    bool is_exact; /* as decoded, in the case of the original */
    uint8_t len;   /* of |raw|: the part that depends on the key */
    uint8_t raw[ENCODED_RAW];
    struct finding finding;
};

struct short_hit { /* the first ones of each encoding */
    struct finding findings[FINDINGS_SHOWN];
    uint32_t count;
};

struct encoded {
    struct secrets patterns; /* in lower case */
    struct search *search;
    struct chains chains; /* of values in lower case */
    struct table digested;
    uint32_t digested_count[SECRET_MAX];
    struct encoded_hit *hits;
    uint32_t count, cap;
    bool overflow;
    struct short_names *shorts;
    struct short_hit short_hits[DECODE_CODES];
    struct decoded room;
    /* the current value: */
    struct audit *audit;
    const uint8_t *data, *mask; /* |mask| NULL: beside packets */
    uint32_t len;
    const struct block *block; /* or: */
    const struct audit_message *message;
    const struct items *items;
    uint32_t index;
};

/* Adds a pattern like |like|, with |data| in lower case. */
int encoded_add(struct encoded *e, const struct secret *like, const uint8_t *data, size_t len,
                struct err *err);

#endif
