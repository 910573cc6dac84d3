/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_again.c
 *
 * The contract is in align_again.h.
 */
#include "align/align_again.h"

/* What |elements[at]| repeats, if it is behind |after| and has no counterpart; else |at|. */
static int32_t first_of(const struct align_element *elements, int32_t at, int32_t after,
                        const int32_t *passed)
{
    for (int32_t k = at - 1; elements[at].again && k > after; k--) {
        if (elements[k].key != elements[at].key || !elements[k].failed ||
            elements[k].again + 1 != elements[at].again)
            continue;
        if (passed[k] >= 0)
            break;
        at = k;
    }
    return at;
}

void align_again_pair_first(const struct align_pairs *p, const int32_t *passed_back)
{
    int32_t last = -1, last_match = -1;

    for (int32_t i = 0; i < (int32_t)p->count[0]; i++) {
        int32_t match = p->match[i], first;

        if (match < 0)
            continue;
        first = first_of(p->elements[0], i, last, p->passed);
        p->match[i] = -1;
        p->match[first] = first_of(p->elements[1], match, last_match, passed_back);
        last = i;
        last_match = match;
    }
}
