/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/handles.c
 *
 * Handles of files that have several (renewals.h), when they are compared.
 */
#include "compare/pairs.h"
#include "compare/row.h"

#include <stdio.h>

static uint32_t find_handle(struct fields *f, int side, const struct item *item)
{
    struct pairs *p = f->p;
    const struct effect *e = &p->pair.half[side].effect;
    uint32_t object = 0;
    struct err unseen;

    sqlite3_bind_blob(p->handle[side], 1, item->data, (int)item->len, SQLITE_STATIC);
    sqlite3_bind_int64(p->handle[side], 2, e->object ? e->object : e->new_object);
    if (db_row(p->c->db, p->handle[side], &unseen) > 0)
        object = row_id(p->handle[side], 0);
    sqlite3_reset(p->handle[side]);
    return matched_row(&p->objects, side, object);
}

static int tell_handle(struct pairs *p, int side, uint64_t value, bool *told, struct err *err)
{
    uint64_t key = (value ^ (uint64_t)side) * 0x9e3779b97f4a7c15u;
    uint32_t at;

    *told = table_first(&p->handles_told, key, &at) != TABLE_NONE;
    return *told || table_add(&p->handles_told, key, 0) == 0
               ? 0
               : err_set(err, ERR_SYSTEM, "out of memory");
}

int handles_compare(struct fields *f, uint64_t scope, const struct item *ref,
                    const struct item *sut, char what[COMPARE_TEXT_MAX], struct err *err)
{
    struct pairs *p = f->p;
    const uint64_t value[SIDES] = { item_value(ref), item_value(sut) };
    uint32_t row = find_handle(f, REF, ref);
    int equal = 1;

    if (!row || find_handle(f, SUT, sut) != row || !p->objects.pairs[row - 1].has_others)
        return HANDLES_OF_TWO;
    for (int side = 0; side < SIDES; side++) {
        uint64_t old;
        bool told, unused;

        if (!pattern_expects(&p->patterns, scope, side, value[REF], value[SUT], &old))
            continue;
        if (tell_handle(p, side, value[side], &told, err) < 0 ||
            tell_handle(p, side, old, &unused, err) < 0)
            return -err->code;
        if (!told)
            snprintf(what, COMPARE_TEXT_MAX, "%s changed, %s not: the same file",
                     side == REF ? "ref" : "sut", side == REF ? "sut" : "ref");
        equal = equal && told;
    }
    return equal;
}
