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
    uint32_t next; /* of its owner, or of the free ones */
};

/* All zeros is empty. */
struct patterns {
    struct pattern *patterns;
    uint32_t count, cap;
    struct table by_key;
    uint32_t *first; /* by owner, counted from 1 in |patterns|; 0: none */
    uint32_t owners;
    uint32_t free;                      /* likewise */
    uint32_t unowned, oldest, youngest; /* those of owner 0 */
    uint32_t unowned_max;               /* beyond that the oldest go; 0: any number */
};

/* A pair of values. */
struct pattern_of {
    uint64_t scope; /* part of the key */
    uint64_t ref, sut;
    uint32_t owner; /* row of the object that they are dropped with; 0: of none */
};

/* CROSSED: both values are known, each with another one. */
enum {
    PATTERN_SUT_CHANGED = 0,
    PATTERN_HOLDS = 1,
    PATTERN_REF_CHANGED = 2,
    PATTERN_CROSSED = 3,
};
/* Whether ref's value goes on to stand for sut's, or negative. */
int patterns_hold(struct patterns *p, const struct pattern_of *of, struct err *err);
/* From now on it does, whatever was known. */
int patterns_note(struct patterns *p, const struct pattern_of *of, struct err *err);
/* The value of |side| that belongs to the other side's value, if it is known and differs. */
bool patterns_expect(const struct patterns *p, const struct pattern_of *of, int side,
                     uint64_t *value);
/* Whether something is known of one of them. */
bool patterns_know(const struct patterns *p, const struct pattern_of *of);
/* Whether this is the first time that |side| has |value|: 1, 0 or negative. */
int patterns_first(struct patterns *p, int side, uint64_t value, uint32_t owner, struct err *err);
/* Drops those of |owner|, which is not 0. */
void patterns_forget(struct patterns *p, uint32_t owner);
void patterns_free(struct patterns *p);

#endif
