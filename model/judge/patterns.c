/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/patterns.c
 *
 * One hash table has the values of all scopes, once from ref to sut and once back.  Values of an
 * owner are in its list, and are forgotten with it.  Values without an owner are in a queue; when
 * it is full, the oldest are dropped.  For fields_pattern.c, judge_handles.c and judge.c.  The
 * contract is in patterns.h.
 */
#include "judge/patterns.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static struct pattern *find(const struct patterns *p, uint64_t key)
{
    uint32_t at, slot = table_first(&p->by_key, key, &at);

    return slot == TABLE_NONE ? NULL : &p->patterns[slot];
}

/* --- owners */

/* Frees one that is in no list of an owner any more. */
static void release(struct patterns *p, uint32_t slot)
{
    struct pattern *pattern = &p->patterns[slot - 1];

    table_remove(&p->by_key, pattern->key, slot - 1);
    pattern->next = p->free;
    p->free = slot;
}

static void drop_oldest(struct patterns *p)
{
    uint32_t slot = p->oldest;

    p->oldest = p->patterns[slot - 1].next;
    p->youngest = p->oldest ? p->youngest : 0;
    p->unowned--;
    release(p, slot);
}

/* The lists of owners up to |owner| are there. */
static int reach_owner(struct patterns *p, uint32_t owner, struct err *err)
{
    uint32_t owners = p->owners;

    if (GROW_TO(p->first, (uint64_t)owner + 1, p->owners) < 0)
        return err_memory(err, "patterns");
    if (p->owners > owners)
        memset(p->first + owners, 0, (p->owners - owners) * sizeof(*p->first));
    return 0;
}

static void put_into_list(struct patterns *p, uint32_t slot, uint32_t owner)
{
    struct pattern *pattern = &p->patterns[slot - 1];

    if (owner) {
        pattern->next = p->first[owner];
        p->first[owner] = slot;
        return;
    }
    pattern->next = 0;
    if (p->youngest)
        p->patterns[p->youngest - 1].next = slot;
    else
        p->oldest = slot;
    p->youngest = slot;
    p->unowned++;
}

/* --- */

static int add(struct patterns *p, uint64_t key, uint64_t value, uint32_t owner, struct err *err)
{
    uint32_t slot;

    owner = owner <= INT32_MAX ? owner : 0; /* no array of objects is that long */
    if (owner && reach_owner(p, owner, err) < 0)
        return -err->code;
    if (!owner && p->unowned_max && p->unowned >= p->unowned_max)
        drop_oldest(p);
    if (!p->free && GROW(p->patterns, p->count, p->cap) < 0)
        return err_memory(err, "patterns");
    slot = p->free ? p->free : p->count + 1;
    if (table_add(&p->by_key, key, slot - 1) < 0)
        return err_memory(err, "patterns");
    if (p->free)
        p->free = p->patterns[slot - 1].next;
    else
        p->count++;
    p->patterns[slot - 1] =
        (struct pattern){ .key = key, .value = value, .owner = owner & INT32_MAX };
    put_into_list(p, slot, owner);
    return 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;

    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
}

/* Each scope has two tables; the numbers of no two are the same. */
static uint64_t key_forth(const struct pattern_of *of)
{
    return mix(mix(0, 2 * of->scope), of->ref);
}

static uint64_t key_back(const struct pattern_of *of)
{
    return mix(mix(0, 2 * of->scope + 1), of->sut);
}

/* |value| under |key|: 1 as known or new, 0 another one. */
static int check(struct patterns *p, uint64_t key, uint64_t value, uint32_t owner, struct err *err)
{
    struct pattern *known = find(p, key);

    if (!known)
        return add(p, key, value, owner, err) < 0 ? -err->code : 1;
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

int patterns_hold(struct patterns *p, const struct pattern_of *of, struct err *err)
{
    int forth = check(p, key_forth(of), of->sut, of->owner, err);
    int back = forth < 0 ? forth : check(p, key_back(of), of->ref, of->owner, err);

    if (back < 0)
        return back;
    return forth && back ? PATTERN_HOLDS
           : forth       ? PATTERN_REF_CHANGED
           : back        ? PATTERN_SUT_CHANGED
                         : PATTERN_CROSSED;
}

static int set(struct patterns *p, uint64_t key, uint64_t value, uint32_t owner, struct err *err)
{
    struct pattern *known = find(p, key);

    if (!known)
        return add(p, key, value, owner, err);
    known->value = value;
    known->has_candidate = false;
    return 0;
}

int patterns_note(struct patterns *p, const struct pattern_of *of, struct err *err)
{
    if (set(p, key_forth(of), of->sut, of->owner, err) < 0)
        return -err->code;
    return set(p, key_back(of), of->ref, of->owner, err);
}

bool patterns_expect(const struct patterns *p, const struct pattern_of *of, int side,
                     uint64_t *value)
{
    const struct pattern *known = find(p, side == SUT ? key_forth(of) : key_back(of));

    *value = known ? known->value : 0;
    return known && *value != (side == SUT ? of->sut : of->ref);
}

bool patterns_know(const struct patterns *p, const struct pattern_of *of)
{
    return find(p, key_forth(of)) || find(p, key_back(of));
}

int patterns_first(struct patterns *p, int side, uint64_t value, uint32_t owner, struct err *err)
{
    uint64_t key = mix(mix(0, UINT64_MAX - (uint64_t)side), value);

    if (find(p, key))
        return 0;
    return add(p, key, 0, owner, err) < 0 ? -err->code : 1;
}

void patterns_forget(struct patterns *p, uint32_t owner)
{
    uint32_t slot = owner < p->owners ? p->first[owner] : 0;

    while (owner && slot) {
        uint32_t next = p->patterns[slot - 1].next;

        release(p, slot);
        slot = next;
    }
    if (owner && owner < p->owners)
        p->first[owner] = 0;
}

void patterns_free(struct patterns *p)
{
    free(p->patterns);
    free(p->first);
    table_free(&p->by_key);
    *p = (struct patterns){ .unowned_max = p->unowned_max };
}
