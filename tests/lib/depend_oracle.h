/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/depend_oracle.h
 *
 * Which uses of things conflict: the words of depend/depend.h, one by one.
 */
#ifndef NFSDIGEST_TESTS_DEPEND_ORACLE_H
#define NFSDIGEST_TESTS_DEPEND_ORACLE_H

#include "depend/depend.h"

/* Whether a use asks for the operation |distance| before it. */
static inline bool use_asks(const struct use *use, uint64_t distance)
{
    return use->thing == THING_AFTER && use->start == distance;
}

static inline bool uses_meet(const struct use *a, const struct use *b)
{
    if (a->thing == THING_AFTER || b->thing == THING_AFTER || a->object != b->object ||
        (!a->changes && !b->changes))
        return false;
    if (a->thing == THING_NAMES || b->thing == THING_NAMES)
        return (a->thing == THING_NAME && a->changes) || (b->thing == THING_NAME && b->changes);
    if (a->thing != b->thing)
        return false;
    if (a->thing == THING_NAME)
        return a->name == b->name;
    return a->thing != THING_DATA ||
           (a->start < b->end && b->start < a->end && a->start < a->end && b->start < b->end);
}

#endif
