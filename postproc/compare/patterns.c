/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/patterns.c
 *
 * Values that are a server's own: while one side keeps its value, so must the other.  A scope with
 * one value a side keeps the last pair; PATTERN_VALUE is two such scopes, one for each value.
 * When the pattern breaks, what was known stays known, and the new value is a candidate: if
 * it comes again, it is the value from then on.  So a single wrong reply is one difference, and so
 * is a change for good.
 */
#include "compare/pairs.h"

#include <stdlib.h>

static struct pattern *find(const struct patterns *p, uint64_t key)
{
    uint32_t at, slot = table_first(&p->by_key, key, &at);

    return slot == TABLE_NONE ? NULL : &p->patterns[slot];
}

static int add(struct patterns *p, uint64_t key, uint64_t value, struct err *err)
{
    if (p->count == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 256;
        void *grown = realloc(p->patterns, cap * sizeof(*p->patterns));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for patterns");
        p->patterns = grown;
        p->cap = cap;
    }
    if (table_add(&p->by_key, key, p->count) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for patterns");
    p->patterns[p->count++] = (struct pattern){ .key = key, .value = value };
    return 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
}

/* |value| under |key|: 1 as known or new, 0 another one. */
static int check(struct patterns *p, uint64_t key, uint64_t value, struct err *err)
{
    struct pattern *known = find(p, key);

    if (!known)
        return add(p, key, value, err) < 0 ? -err->code : 1;
    if (known->value == value) {
        known->has_candidate = false;
        return 1;
    }
    if (known->has_candidate && known->candidate == value) {
        known->value = value;
        known->has_candidate = false;
        return 1;
    }
    known->candidate = value;
    known->has_candidate = true;
    return 0;
}

int pattern_holds(struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut, struct err *err)
{
    int forth = check(p, mix(mix(scope, 1), ref), sut, err);
    int back = forth < 0 ? forth : check(p, mix(mix(scope, 2), sut), ref, err);

    if (back < 0)
        return back;
    return forth && back ? PATTERN_HOLDS
           : forth       ? PATTERN_REF_CHANGED
           : back        ? PATTERN_SUT_CHANGED
                         : PATTERN_CROSSED;
}

static int set(struct patterns *p, uint64_t key, uint64_t value, struct err *err)
{
    struct pattern *known = find(p, key);

    if (!known)
        return add(p, key, value, err);
    known->value = value;
    known->has_candidate = false;
    return 0;
}

int pattern_note(struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut, struct err *err)
{
    if (set(p, mix(mix(scope, 1), ref), sut, err) < 0)
        return -err->code;
    return set(p, mix(mix(scope, 2), sut), ref, err);
}

bool pattern_expects(const struct patterns *p, uint64_t scope, int side, uint64_t ref, uint64_t sut,
                     uint64_t *value)
{
    const struct pattern *known =
        find(p, side == SUT ? mix(mix(scope, 1), ref) : mix(mix(scope, 2), sut));

    *value = known ? known->value : 0;
    return known && *value != (side == SUT ? sut : ref);
}

bool pattern_is_known(const struct patterns *p, uint64_t scope, uint64_t ref, uint64_t sut)
{
    return find(p, mix(mix(scope, 1), ref)) || find(p, mix(mix(scope, 2), sut));
}

void patterns_free(struct patterns *p)
{
    free(p->patterns);
    table_free(&p->by_key);
    memset(p, 0, sizeof(*p));
}
