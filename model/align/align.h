/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align.h
 *
 * Finds which elements of two sequences of requests belong together: a longest common subsequence
 * (Myers, "An O(ND) Difference Algorithm").  So insertions and deletions on one side do not disturb
 * what comes after them.
 *
 * Sequences come piece by piece, and are aligned in windows.  Equal elements at the front are
 * paired at once.  Otherwise up to ALIGN_WINDOW elements of each side are taken, and their
 * alignment is final except for the last quarter.  The result for a window is a longest one, unless
 * it needs more than ALIGN_EDITS insertions and deletions.  Then the best way so far is taken, and
 * a new search begins after it.
 *
 * Among equal requests, those that are clearly closest in time are paired, because a longest
 * alignment pairs others if some were not captured; unless this leaves requests alone that a pause
 * of one side may have made late (align_weigh.h).  The remaining requests that overlapped in time
 * are paired in any order (align_late.h).  If one side has more of them than the other, and several
 * came when the missing one may have come, nobody knows which one it is: those stay alone
 * (align_doubt.h).  Only what repeats a request that failed comes after that one (align_again.h).
 *
 * Memory: ALIGN_WINDOW elements of each sequence, with its parts 330 bytes for each element, and
 * at most 4 MiB for the search.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_H
#define NFSDIGEST_ALIGN_ALIGN_H

#include "base/err.h"
#include "align/changes.h"
#include "align/time_offsets.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ALIGN_WINDOW = 4096,
    ALIGN_EDITS = 1024,
    ALIGN_LIKE = 16, /* how many requests ahead to look for equal ones */
};

struct align_element {
    uint64_t key;                 /* the same for equal requests */
    int64_t id;                   /* operation */
    int64_t time;                 /* of its call */
    uint32_t made;                /* object that the request found or made; 0: none */
    int64_t state[CHANGE_STATES]; /* state of changes before the request (changes.h) */
    int64_t done;                 /* time of its reply; without a reply, time of the call */
    bool failed;                  /* the server failed it (wire/failure.h) */
    uint32_t again; /* it repeats one that the server failed, so many times; 0: it does not */
    bool doubtful;  /* set for |put|: it is alone, but several like ones may be its counterpart */
};

struct align {
    /* Gets the next element of a side.  Returns 1, 0 at the end, or a negative code. */
    int (*next)(void *ctx, int side, struct align_element *element, struct err *err);
    /* Takes a pair, or one element with NULL for the missing counterpart.  Elements come in the
     * order of each side, except for pairs out of order. */
    int (*put)(void *ctx, const struct align_element *ref, const struct align_element *sut,
               struct err *err);
    /* Returns false if nothing is known. */
    bool (*expect)(void *ctx, const struct align_element *ref, struct align_expected *expected);
    void *ctx;
};

/* Allocates windows.  They can be used for several runs, one after the other.  NULL: no memory. */
struct align_windows *align_open(struct err *err);
void align_close(struct align_windows *windows);

/* Aligns both sequences.  Returns 0, a negative code from a callback, or -ERR_SYSTEM. */
int align_run(struct align_windows *windows, const struct align *align, struct err *err);

/* Finds the longest common subsequence of two whole sequences of at most ALIGN_WINDOW elements.
 * Sets |match|[i] to the index in |b| that a[i] belongs to, or -1.  Returns the number of pairs, or
 * -ERR_SYSTEM without memory. */
int align_sequences(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                    int32_t *match, struct err *err);

#endif
