/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/open_listings.h
 *
 * Listings that were begun and have not come to their end, so that a READDIR that goes on finds the
 * one to which it belongs (RFC 1813 s3.3.16, s3.3.17).
 *
 * Memory: LISTINGS_OPEN times 40 bytes.  When there are more, the oldest ones are forgotten, and
 * what goes on with them counts as a request of its own.
 */
#ifndef NFSDIGEST_COMPARE_OPEN_LISTINGS_H
#define NFSDIGEST_COMPARE_OPEN_LISTINGS_H

#include "wire/field.h"

#include <stdint.h>

enum { LISTINGS_OPEN = 1024 };

struct open_listing {
    int64_t first;   /* operation */
    uint64_t cookie; /* with which it goes on */
    uint32_t object, client, flow;
    const struct procedure *procedure;
};

struct open_listings {
    struct open_listing all[LISTINGS_OPEN];
    uint32_t count;
};

/* Returns the one that |part| goes on with: of the same directory, client, procedure and cookie.
 * There are several when two processes list a directory: then it is that with |part->first|, or the
 * latest one of the same flow, or the latest.  NULL: there is none. */
struct open_listing *open_listings_find(struct open_listings *l, const struct open_listing *part);

/* |open|, or a new one if it is NULL, goes on as |now|. */
void open_listings_go_on(struct open_listings *l, struct open_listing *open,
                         const struct open_listing *now);
void open_listings_end(struct open_listings *l, struct open_listing *open);

#endif
