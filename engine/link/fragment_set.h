/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_set.h
 *
 * The fragments of one datagram; between the files fragment*.c only.
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
    int64_t last_time;     /* of the one that came last, or TIME_NONE, */
    uint64_t first_frame;  /* and where both are */
    uint64_t last_frame;   /* */
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
    int64_t due;        /* when it is given up, answered or doubtful; INT64_MAX: by its age alone */
    uint8_t protocol;
    /* four booleans, as bytes, since what is restored may hold others */
    uint8_t copy;             /* begun right after a datagram of this key was completed */
    uint8_t shadow;           /* begun with a fragment that an older set has, too */
    uint8_t upward, downward; /* begun with the first fragment, with the last */
    uint8_t doubtful; /* complete, but perhaps of two datagrams: an enum checksum; 0: not so */
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

/* The slot of a new, empty set, the youngest; TABLE_NONE: no memory. */
uint32_t fragment_set_new(struct fragments *f, const struct fragment_key *key, int64_t time);

/* Room for |end| bytes in the set, at the cost of the oldest others. */
int fragment_set_reserve(struct fragments *f, uint32_t slot, uint32_t end);

/* Takes the set in |slot| out; its data are freed. */
void fragment_set_remove(struct fragments *f, uint32_t slot);

/* The same, but its slot and data stay. */
void fragment_set_unlink(struct fragments *f, uint32_t slot);

/* The sets of a key, the oldest first, at most FRAGMENT_RIVALS + 2; returns how many. */
uint32_t fragment_sets_of(const struct fragments *f, const struct fragment_key *key,
                          uint32_t slots[]);

/* fragment_lost.c */

/* Makes the set known as one whose answer may come; it has its first fragment. */
int fragment_expect_answer(struct fragments *f, uint32_t slot);

/* It is given up FRAGMENT_DOUBT from now, unless it is completed before. */
void fragment_set_due(struct fragments *f, uint32_t slot, int64_t now);

/* The set in |slot| will not be completed: what is known of its datagram is lost or, if the set was
 * doubtful, given out all the same. |delivered|, if not NULL, was given out instead of it. */
void fragment_give_up(struct fragments *f, uint32_t slot, const struct datagram *delivered);

/* Whether the checksums of this source have been right so far: 1, wrong: -1, not known: 0. */
int fragment_trust(const struct fragments *f, const struct fragment_key *key);
void fragment_note_checksum(struct fragments *f, const struct fragment_key *key, enum checksum sum);

#endif
