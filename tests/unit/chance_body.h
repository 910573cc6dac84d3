/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/chance_body.h
 *
 * Bodies of messages that are made by chance from the tables.
 */
#ifndef NFSDIGEST_TESTS_CHANCE_BODY_H
#define NFSDIGEST_TESTS_CHANCE_BODY_H

#include "wire/field.h"
#include "wire/xdr_put.h"

enum { LONG = 40 };

static uint64_t state = 1;
static uint32_t list_most = 3; /* lists have fewer elements */

static uint32_t some(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % below;
}

static void put_type(struct xdr_put *to, const struct type *type);

static void put_field(struct xdr_put *to, const struct field *f)
{
    static const uint8_t bytes[LONG] = "what is in opaques and strings";
    uint32_t most = f->max && f->max < LONG ? f->max : LONG, count;
    const struct arm *arm;

    switch (f->kind) {
    case XDR_U32:
    case XDR_I32:
    case XDR_ENUM:
        xdr_put_u32(to, some(9));
        break;
    case XDR_U64:
        xdr_put_u64(to, some(1000));
        break;
    case XDR_BOOL:
        xdr_put_u32(to, some(2));
        break;
    case XDR_FIXED:
        xdr_put_fixed(to, bytes, f->max);
        break;
    case XDR_OPAQUE:
    case XDR_STRING: /* few lengths, so that forms come again */
        xdr_put_opaque(to, (struct bytes){ bytes, some(3) * most / 2 });
        break;
    case XDR_STRUCT:
        put_type(to, f->sub);
        break;
    case XDR_OPTIONAL:
        count = some(4) > 0;
        xdr_put_u32(to, count);
        if (count)
            put_type(to, f->sub);
        break;
    case XDR_LIST:
        for (count = some(list_most); count; count--) {
            xdr_put_u32(to, 1);
            put_type(to, f->sub);
        }
        xdr_put_u32(to, 0);
        break;
    case XDR_ARRAY:
        count = some(3);
        xdr_put_u32(to, count);
        while (count--)
            put_type(to, f->sub);
        break;
    case XDR_UNION:
        count = some(3) ? 0 : some(12);
        arm = arm_find(f->arms, count);
        if (!arm)
            arm = arm_find(f->arms, count = 0);
        xdr_put_u32(to, count);
        if (arm && arm->type)
            put_type(to, arm->type);
        break;
    }
}

static void put_type(struct xdr_put *to, const struct type *type)
{
    for (const struct field *f = type->fields; f->kind != XDR_END; f++)
        put_field(to, f);
}

#endif
