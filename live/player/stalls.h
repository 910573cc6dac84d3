/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/stalls.h
 *
 * The objects whose operations waited longest, in all, for operations that they depend on.
 *
 * There may be more objects than memory: the counters are those of Space-Saving (Metwally, Agrawal
 * and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005),
 * weighted by time.  An object that waited for more than 1/STALLS_OBJECTS of all time is always
 * there.  While there are no more objects than STALLS_OBJECTS, times are exact.
 *
 * Memory: 53 KiB.
 */
#ifndef NFSDIGEST_PLAYER_STALLS_H
#define NFSDIGEST_PLAYER_STALLS_H

#include <stdint.h>

enum { STALLS_OBJECTS = 256, STALL_ARGUMENTS = 128 };

struct stall {
    uint32_t dump, object;
    uint64_t operations; /* that waited since the object is there */
    int64_t waited;      /* ns, of these: it waited at least so long, */
    int64_t missed;      /* and at most so many ns longer, before it was there */
    int64_t longest;     /* of one operation; the rest is about that one */
    uint64_t number;     /* in its dump */
    uint8_t procedure;   /* rdump's number */
    uint8_t argument_len;
    uint8_t arguments[STALL_ARGUMENTS]; /* the first ones */
};

struct stalls {
    uint32_t count;
    struct stall of[STALLS_OBJECTS];
    int64_t most[STALLS_OBJECTS]; /* |waited| and |missed| of each */
    /* Rows by their objects: chains of numbers from 1. */
    uint16_t first[STALLS_OBJECTS], next[STALLS_OBJECTS];
    uint8_t heap[STALLS_OBJECTS];  /* rows; that with the least of |most| at 0 */
    uint8_t place[STALLS_OBJECTS]; /* of each row in it */
};
_Static_assert(sizeof(struct stalls) <= 53 * 1024, "as much as the header says");

/* Of times, neither below 0: at most INT64_MAX. */
static inline int64_t stalls_sum(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* An operation on |object| (above 0) waited for |ns|.  Returns the object's row, in which |longest|
 * has just been set and the members behind it are the caller's to set; or NULL: another operation
 * waited longer. */
struct stall *stalls_add(struct stalls *stalls, uint32_t dump, uint32_t object, int64_t ns);
/* Adds what another player of the same run has counted. */
void stalls_merge(struct stalls *to, const struct stalls *from);
/* Call it when |count| and |of| have been filled in. */
void stalls_index(struct stalls *stalls);
/* Sets |rows| to the |count| that waited longest, in this order; returns how many there are. */
uint32_t stalls_longest(const struct stalls *stalls, const struct stall **rows, uint32_t count);

#endif
