/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "align/matched.h"

#include <stdlib.h>

int matched_init(struct objects *o, const uint32_t limit[SIDES], struct err *err)
{
    *o = (struct objects){ 0 };
    for (int side = 0; side < SIDES; side++) {
        o->limit[side] = limit[side];
        o->row[side] = calloc(limit[side] + 1u, sizeof(uint32_t));
        if (!o->row[side])
            return err_memory(err, "objects");
    }
    return 0;
}

void matched_free(struct objects *o)
{
    free(o->row[REF]);
    free(o->row[SUT]);
    free(o->pairs);
    *o = (struct objects){ 0 };
}

int matched_match(struct objects *o, uint32_t ref, uint32_t sut, enum match_how how,
                  struct err *err)
{
    if (!ref || !sut || ref >= o->limit[REF] || sut >= o->limit[SUT] || o->row[REF][ref] ||
        o->row[SUT][sut])
        return 0;
    if (GROW(o->pairs, o->count, o->cap) < 0)
        return err_memory(err, "objects");
    o->pairs[o->count++] = (struct object_pair){ { ref, sut }, (uint8_t)how };
    o->row[REF][ref] = o->row[SUT][sut] = o->count;
    return 1;
}

void matched_add(struct objects *o, int side, uint32_t object, uint32_t row)
{
    o->row[side][object] = row;
    o->pairs[row - 1].has_others = true;
}
