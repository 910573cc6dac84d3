/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_set.h
 *
 * The fragments of one datagram.  For the files fragment*.c only.
 */
#ifndef NFSDIGEST_LINK_FRAGMENT_SET_H
#define NFSDIGEST_LINK_FRAGMENT_SET_H

#include "link/checksum.h"
#include "link/fragment.h"

struct fragment_set {
    struct fragment_key key;
    uint64_t hash;
    uint64_t serial;       /* 1, 2, ... in the order in which sets were begun; 0: free */
    int64_t time;          /* of its first fragment; TIME_NONE until a time is known */
    int64_t last_time;     /* of the fragment that came last, or TIME_NONE */
    uint64_t first_frame;  /* frame of the first fragment */
    uint64_t last_frame;   /* frame of the fragment that came last */
    uint32_t older, newer; /* slots; |newer| links the free ones and those that are lost */
    uint8_t *data;
    uint32_t cap;
    uint32_t total;  /* 0: the last fragment was not seen */
    uint32_t end;    /* behind the last byte seen */
    uint32_t blocks; /* bits in |filled| */
    uint32_t fragments;
    uint32_t last_from, last_to; /* the fragment that came last */
    uint32_t first_len; /* of the fragment at offset 0, whose |protocol| counts; 0: not seen */
    uint64_t answer;    /* hash in fragments->answers; 0: it is not there */
    int64_t due;        /* when it is given up if answered or doubtful; INT64_MAX: only by age */
    uint8_t protocol;
    /* four booleans, as bytes, since what is restored may hold others */
    uint8_t copy;             /* begun right after a datagram of this key was completed */
    uint8_t shadow;           /* begun with a fragment that an older set has, too */
    uint8_t upward, downward; /* begun with the first fragment, with the last */
    uint8_t doubtful; /* complete, but perhaps mixed of two datagrams: an enum checksum; or 0 */
    uint64_t filled[FRAGMENT_WORDS];
};

static inline bool fragment_set_has(const struct fragment_set *set, uint32_t block)
{
    return set->filled[block / 64] >> block % 64 & 1;
}

static inline bool fragment_set_whole(const struct fragment_set *set)
{
    return set->total && set->blocks == (set->total + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK;
}

/* Makes a new, empty set, the youngest.  Returns its slot, or TABLE_NONE if there is no memory. */
uint32_t fragment_set_new(struct fragments *f, const struct fragment_key *key, int64_t time);

/* Makes room for |end| bytes in the set.  Removes the oldest other sets if necessary. */
int fragment_set_reserve(struct fragments *f, uint32_t slot, uint32_t end);

/* Removes the set in |slot| and frees its data. */
void fragment_set_remove(struct fragments *f, uint32_t slot);

/* Removes the set in |slot| from the tables, but keeps its slot and data. */
void fragment_set_unlink(struct fragments *f, uint32_t slot);

/* Writes the slots of the sets of a key, the oldest first, into |slots|: at most
 * FRAGMENT_RIVALS + 2.  Returns how many. */
uint32_t fragment_sets_of(const struct fragments *f, const struct fragment_key *key,
                          uint32_t slots[]);

/* fragment_lost.c */

/* Enters the set, which must have its first fragment, into the table of sets that wait for an
 * answer. */
int fragment_expect_answer(struct fragments *f, uint32_t slot);

/* Arranges that the set is given up FRAGMENT_DOUBT from now, unless it is completed before. */
void fragment_set_due(struct fragments *f, uint32_t slot, int64_t now);

/* Gives up the set in |slot|.  The known part of its datagram becomes a lost datagram; if the set
 * was doubtful, its datagram is delivered after all.  |delivered| (may be NULL) is a datagram that
 * was delivered instead. */
void fragment_give_up(struct fragments *f, uint32_t slot, const struct datagram *delivered);

/* Returns 1 if the checksums of this source have been right so far, -1 if wrong, 0 if unknown. */
int fragment_trust(const struct fragments *f, const struct fragment_key *key);
void fragment_note_checksum(struct fragments *f, const struct fragment_key *key, enum checksum sum);

#endif
