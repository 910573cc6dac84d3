/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment.h
 *
 * Assembles fragments to datagrams, for IPv4 and IPv6 alike.  Offsets are counted in blocks of 8
 * bytes, as in both headers.  Bounds: see link.h.
 *
 * A host repeats an identification after 65,536 datagrams to another host (RFC 6864 s1).  By then
 * an earlier datagram may still wait for a lost fragment.  So a fragment belongs to a set only if
 * none of its bytes contradicts the set; a contradiction ends the set.  A fragment may begin
 * another datagram if it is not the neighbour of the fragment before it, or comes FRAGMENT_GAP
 * later, or is already there.  It then goes into the set and also begins a second set
 * (FRAGMENT_RIVALS at most).  The first set that is complete and has the right UDP checksum is the
 * datagram.  Without a checksum (0, or left to the network card), a complete set waits for
 * FRAGMENT_DOUBT while a rival may be completed.  The same holds for a wrong checksum, unless this
 * source has never had a right one: then a wrong checksum means nothing.
 *
 * If a datagram is given up, and its first fragment is there, the datagram is lost, but known:
 * fragments_lost returns that fragment.  It does not return later fragments, because these may be
 * of another datagram.  A datagram is given up in these cases:
 * - Its set ends.
 * - Its answer came FRAGMENT_DOUBT ago.  The answer is a datagram in the other direction with the
 *   same first four bytes behind the UDP header, the XID.  It may answer an earlier copy.
 * - It is LINK_FRAGMENT_AGE old.
 * - The capture ends.
 *
 * When a datagram is complete, further fragments with its key begin a new set.  So a datagram that
 * was captured twice is delivered twice, if all its fragments were captured twice.  If only some
 * were (a capture on all interfaces gives the last fragment again, after the first copy is
 * complete), the new set lives for FRAGMENT_COPY_AGE only, and its fragments count as duplicates.
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
    FRAGMENT_HEAD = 16,    /* bytes that distinguish datagrams: the UDP header and the XID */
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
    uint8_t protocol; /* of the payload; that of the first fragment counts */
    uint64_t frame;   /* number */
    int64_t time;     /* the time by which it ages; TIME_NONE: no time is known so far */
    int64_t sent;     /* the time of its own frame, or TIME_NONE */
};

struct fragment_set;

struct fragments {
    struct counters *counters;
    struct fragment_set *sets; /* slots, a free one is linked by |newer| */
    uint32_t slots, free;
    uint32_t oldest, newest;
    uint32_t used;
    uint32_t lost, last_lost; /* slots of sets that fragments_lost will return */
    uint64_t bytes;           /* allocated for data of the others */
    uint64_t serial;          /* of the set begun last */
    int64_t due; /* before this time fragments_settle has nothing to do; INT64_MAX: nothing waits */
    struct table table;
    struct table answers; /* sets that have their first fragment, by what answers them */
    uint8_t *assembled;   /* the datagram returned last */
    uint8_t *remains;     /* the lost datagram returned last */
    struct fragment_done {
        uint64_t hash; /* of a key whose datagram was completed; 0: none */
        int64_t time;
        uint8_t head[FRAGMENT_HEAD];
    } done[FRAGMENT_DONE_MAX];
    struct {
        uint32_t good, bad;
    } sources[FRAGMENT_SOURCES];
    uint32_t surprises; /* checksums that were not all like those before */
};

struct datagram {
    const uint8_t *data; /* valid until the next call of the same function */
    uint32_t len;        /* bytes at |data| */
    uint8_t protocol;
    /* Set for lost datagrams only: */
    struct address source, destination;
    uint32_t wire_len;
    uint64_t first_frame, frame; /* the last one that brought something of it */
    int64_t time;
};

void fragments_init(struct fragments *f, struct counters *counters);
void fragments_free(struct fragments *f);

/* Adds a fragment.  Returns 1 with |datagram| filled if it completed a datagram, else 0.  Returns a
 * negative code if there is no memory. */
int fragments_add(struct fragments *f, const struct fragment *fragment, struct datagram *datagram,
                  struct err *err);

/* Notes that a UDP datagram has come.  The datagram that it answers will hardly be completed.  Uses
 * only the addresses of |ip|.  |now| may be TIME_NONE. */
void fragments_answered(struct fragments *f, const struct ip_payload *ip, struct bytes datagram,
                        int64_t now);

/* Gives up all sets, because no more fragments come. */
void fragments_end(struct fragments *f);

/* Gives up doubtful and answered sets whose time is over. */
void fragments_settle(struct fragments *f, int64_t now);

/* Returns 1 and the next UDP datagram that was given up, or that was doubtful and is delivered.
 * Returns 0 if there is none.  After each of the functions above, call it until it returns 0. */
int fragments_lost(struct fragments *f, struct datagram *datagram);

/* Returns a digest of all that later fragments can depend on, with frames counted from |frame|.
 * |now|: the latest time. */
uint64_t fragments_outline(const struct fragments *f, uint64_t frame, int64_t now);

uint64_t fragments_layout(uint64_t hash); /* see pack_layout */
int fragments_save(const struct fragments *f, struct buf *out);

/* Replaces what |f| holds. */
int fragments_restore(struct fragments *f, const uint8_t *data, size_t len, struct err *err);

#endif
