/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment.h
 *
 * Fragments to datagrams, for IPv4 and IPv6 alike.  Offsets are counted in blocks of 8 bytes, as in
 * both headers; the first copy of a block wins.  Bounds: see link.h.
 *
 * A datagram is complete once, and the fragments that come after it under the same key are a new
 * set: a datagram captured twice is delivered twice, if all its fragments are there twice.
 * If only some are (a capture on all interfaces gives the last fragment again, after the first
 * copy is complete), the rest must not stay to spoil the next datagram with this
 * identification: such a set lives FRAGMENT_COPY_AGE only and counts as duplicates.
 */
#ifndef NFSDIGEST_LINK_FRAGMENT_H
#define NFSDIGEST_LINK_FRAGMENT_H

#include "base/table.h"
#include "link/counters.h"

enum {
    FRAGMENT_BLOCK = 8,
    FRAGMENT_DATAGRAM_MAX = 65535,
    FRAGMENT_WORDS = (FRAGMENT_DATAGRAM_MAX / FRAGMENT_BLOCK + 1) / 64,
    FRAGMENT_DONE_MAX = 1024,
};
#define FRAGMENT_COPY_AGE INT64_C(1000000000) /* ns */

/* No padding inside: compared and hashed as bytes. */
struct fragment_key {
    struct address source, destination;
    uint8_t protocol; /* IPv4 only, RFC 791 s3.2; IPv6 identifies without it, RFC 8200 s4.5 */
    uint8_t zero;
    uint32_t id;
    uint32_t scope; /* tags and tunnels around the IP header, where they matter */
};

struct fragment {
    struct fragment_key key;
    const uint8_t *data;
    uint32_t offset, len;
    bool more;
    uint8_t protocol; /* of what follows; that of the first fragment counts */
    int64_t time;
};

struct fragment_set;

struct fragments {
    struct counters *counters;
    struct fragment_set *sets; /* slots, a free one is linked by |newer| */
    uint32_t slots, free;
    uint32_t oldest, newest;
    uint32_t used;
    uint64_t bytes; /* allocated for data */
    struct table table;
    uint8_t *assembled; /* the datagram given out last */
    struct fragment_done {
        uint64_t hash; /* of a key whose datagram was completed; 0: none */
        int64_t time;
    } done[FRAGMENT_DONE_MAX];
};

struct datagram {
    const uint8_t *data; /* until the next call */
    uint32_t len;
    uint8_t protocol;
};

void fragments_init(struct fragments *f, struct counters *counters);
void fragments_free(struct fragments *f);

/* Returns 1 with |datagram| filled when |fragment| completed it, else 0; negative: no memory. */
int fragments_add(struct fragments *f, const struct fragment *fragment, struct datagram *datagram,
                  struct err *err);

int fragments_save(const struct fragments *f, struct buf *out);

/* Replaces what |f| holds. */
int fragments_restore(struct fragments *f, const uint8_t *data, size_t len, struct err *err);

#endif
