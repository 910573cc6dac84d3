/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/patterns.h
 *
 * Values that each server chooses (handles, file numbers, verifiers).  While one side keeps its
 * value, the other must keep its value, too.  A scope with one value for each side keeps the last
 * pair.  PATTERN_VALUE is two such scopes, one for each value.
 *
 * When the pattern breaks, the known value stays, and the new value is a candidate.  If it comes
 * again, it becomes the known value.  So a single wrong reply is one difference, and a permanent
 * change is one, too.
 *
 * Memory: about 70 bytes for each value (patterns_forget frees those of an owner), and 4 bytes for
 * each owner.
 */
#ifndef NFSDIGEST_JUDGE_PATTERNS_H
#define NFSDIGEST_JUDGE_PATTERNS_H

#include "align/codes.h"
#include "base/err.h"
#include "base/table.h"

struct pattern {
    uint64_t key, value, candidate;
    uint32_t owner : 31, has_candidate : 1;
    uint32_t next; /* next pattern of its owner, or next free one */
};

/* A struct of zeros is empty. */
struct patterns {
    struct pattern *patterns;
    uint32_t count, cap;
    struct table by_key;
    uint32_t *first; /* by owner, counted from 1 in |patterns|; 0: none */
    uint32_t owners;
    uint32_t free;                      /* likewise */
    uint32_t unowned, oldest, youngest; /* patterns of owner 0 */
    uint32_t unowned_max;               /* above this the oldest ones are dropped; 0: no bound */
};

/* A pair of values. */
struct pattern_of {
    uint64_t scope; /* part of the key */
    uint64_t ref, sut;
    uint32_t owner; /* row of the object; the values are dropped with it; 0: none */
};

/* CROSSED: both values are known, each with another one. */
enum {
    PATTERN_SUT_CHANGED = 0,
    PATTERN_HOLDS = 1,
    PATTERN_REF_CHANGED = 2,
    PATTERN_CROSSED = 3,
};
/* Checks if ref's value still belongs to sut's.  Returns one of these, or a negative code. */
int patterns_hold(struct patterns *p, const struct pattern_of *of, struct err *err);
/* Records that ref's value belongs to sut's, and replaces older knowledge. */
int patterns_note(struct patterns *p, const struct pattern_of *of, struct err *err);
/* Gives the value of |side| that belongs to the other side's value.  Returns false if it is unknown
 * or does not differ. */
bool patterns_expect(const struct patterns *p, const struct pattern_of *of, int side,
                     uint64_t *value);
/* Returns true if something is known about one of the values. */
bool patterns_know(const struct patterns *p, const struct pattern_of *of);
/* Returns 1 if |side| has |value| for the first time, else 0, or a negative code. */
int patterns_first(struct patterns *p, int side, uint64_t value, uint32_t owner, struct err *err);
/* Drops the values of |owner|, which is not 0. */
void patterns_forget(struct patterns *p, uint32_t owner);
void patterns_free(struct patterns *p);

#endif
