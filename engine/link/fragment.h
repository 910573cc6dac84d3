/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment.h
 *
 * Fragments to datagrams, for IPv4 and IPv6 alike.  Offsets are counted in blocks of 8 bytes, as in
 * both headers.  Bounds: see link.h.
 *
 * An identification comes again while a datagram of which a fragment was lost still waits for it
 * (at 65,536 datagrams from one host to another, RFC 6864 s1).  So a fragment is of a set only if
 * no byte of it contradicts what the set has; one that does ends the set.  One that is not the
 * neighbour of the fragment before it, or comes FRAGMENT_GAP later, or is there already, may begin
 * another datagram: it goes into the set and begins a second one (FRAGMENT_RIVALS at most).  The
 * first that is complete and has the right UDP checksum is the datagram.  Without a checksum (0, or
 * left to the network card) a complete set waits for FRAGMENT_DOUBT while a rival may be completed.
 * A wrong checksum says the same, unless this source has never had a right one: then it says
 * nothing.
 *
 * A datagram that is given up with its first fragment is lost, not unknown: fragments_lost gives
 * out that fragment; what lies behind it may be of another.  It is given up when its set ends,
 * FRAGMENT_DOUBT after its answer came (a datagram the other way with the same first four bytes
 * behind the UDP header: the XID; it may answer an earlier copy), when it is LINK_FRAGMENT_AGE old,
 * and at the end.
 *
 * A datagram is complete once, and the fragments that come after it under the same key are a new
 * set: a datagram captured twice is delivered twice, if all its fragments are there twice.
 * If only some are (a capture on all interfaces gives the last fragment again, after the first
 * copy is complete), such a set lives FRAGMENT_COPY_AGE only and counts as duplicates.
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
    FRAGMENT_RIVALS = 4,
    FRAGMENT_SOURCES = 64, /* whose checksums are counted, by a hash */
    FRAGMENT_HEAD = 16,    /* bytes that tell datagrams apart: the UDP header and the XID */
};
#define FRAGMENT_COPY_AGE INT64_C(1000000000) /* ns */
#define FRAGMENT_GAP INT64_C(500000)          /* ns */
#define FRAGMENT_DOUBT INT64_C(100000000)     /* ns */

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
    uint64_t frame;   /* number */
    int64_t time;     /* by which it ages; TIME_NONE: none is known so far */
    int64_t sent;     /* its own, or TIME_NONE */
};

struct fragment_set;

struct fragments {
    struct counters *counters;
    struct fragment_set *sets; /* slots, a free one is linked by |newer| */
    uint32_t slots, free;
    uint32_t oldest, newest;
    uint32_t used;
    uint32_t lost, last_lost; /* slots of sets that fragments_lost is to give out */
    uint64_t bytes;           /* allocated for data of the others */
    uint64_t serial;          /* of the set begun last */
    int64_t due; /* no set is doubtful or answered beyond its time before; INT64_MAX: none */
    struct table table;
    struct table answers; /* sets that have their first fragment, by what answers them */
    uint8_t *assembled;   /* the datagram given out last */
    uint8_t *remains;     /* the lost one given out last */
    struct fragment_done {
        uint64_t hash; /* of a key whose datagram was completed; 0: none */
        int64_t time;
        uint8_t head[FRAGMENT_HEAD];
    } done[FRAGMENT_DONE_MAX];
    struct {
        uint32_t good, bad;
    } sources[FRAGMENT_SOURCES];
};

struct datagram {
    const uint8_t *data; /* until the next call of the same function */
    uint32_t len;        /* bytes at |data| */
    uint8_t protocol;
    /* Of lost ones only: */
    struct address source, destination;
    uint32_t wire_len;
    uint64_t first_frame, frame; /* the last one that brought something of it */
    int64_t time;
};

void fragments_init(struct fragments *f, struct counters *counters);
void fragments_free(struct fragments *f);

/* Returns 1 with |datagram| filled when |fragment| completed it, else 0; negative: no memory. */
int fragments_add(struct fragments *f, const struct fragment *fragment, struct datagram *datagram,
                  struct err *err);

/* A UDP datagram has come: what it answers will hardly be completed.  Of |ip| only the addresses
 * count; |now| may be TIME_NONE. */
void fragments_answered(struct fragments *f, const struct ip_payload *ip, struct bytes datagram,
                        int64_t now);

/* No more fragments come. */
void fragments_end(struct fragments *f);

/* Gives up what is doubtful or answered beyond its time. */
void fragments_settle(struct fragments *f, int64_t now);

/* Returns 1 and the next UDP datagram that was given up, or that was doubtful and is delivered.
 * Returns 0 if there is none.  Call it until then, after each of the functions above. */
int fragments_lost(struct fragments *f, struct datagram *datagram);

uint64_t fragments_layout(uint64_t hash); /* see pack_layout */
int fragments_save(const struct fragments *f, struct buf *out);

/* Replaces what |f| holds. */
int fragments_restore(struct fragments *f, const uint8_t *data, size_t len, struct err *err);

#endif
