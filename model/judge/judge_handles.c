/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_handles.c
 *
 * Compares handles of files that have several.
 */
#include "judge/judge_fields.h"

#include <stdio.h>

int handles_compare(struct fields *f, const struct pattern_of *of, const struct item *ref,
                    const struct item *sut, struct err *err)
{
    struct judge *j = f->j;
    const uint64_t value[SIDES] = { of->ref, of->sut };
    uint32_t row, other;
    int equal = 1;

    if (judge_object_of(j, REF, ref, &row, err) < 0)
        return -err->code;
    if (!row)
        return HANDLES_OF_TWO;
    if (judge_object_of(j, SUT, sut, &other, err) < 0)
        return -err->code;
    if (other != row || !j->states[row].has_others)
        return HANDLES_OF_TWO;
    for (int side = 0; side < SIDES; side++) {
        uint64_t old;
        int is_new;

        if (!patterns_expect(&j->patterns, of, side, &old))
            continue;
        is_new = patterns_first(&j->patterns, side, value[side], row, err);
        if (is_new < 0 || patterns_first(&j->patterns, side, old, row, err) < 0)
            return -err->code;
        if (is_new)
            snprintf(f->what, sizeof(f->what), "%s changed, %s not: the same file",
                     side == REF ? "ref" : "sut", side == REF ? "sut" : "ref");
        equal = equal && !is_new;
    }
    return equal;
}
