/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_fields.h
 *
 * Decodes the fields of a record.  All is inlined: into layout_decode.c, for any kind, and into
 * what a format has for a kind of which it has very many records.  There the table is known to the
 * compiler, which makes of it a decoder without a loop and without a switch:
 *
 *     static int get_operation(struct layout_reader *r, const struct layout_kind *kind,
 *                              uint64_t presence, const uint8_t *p, void *record, struct err *err)
 *     {
 *         return layout_get_known(r, kind, operation, COUNT, presence, p, record, err);
 *     }
 *
 * What is rare (numbers of more than 28 bits, errors) is left to functions.
 */
#ifndef NFSDIGEST_RECORD_LAYOUT_FIELDS_H
#define NFSDIGEST_RECORD_LAYOUT_FIELDS_H

#include "record/format.h"

#define LAYOUT_INLINE static inline __attribute__((always_inline))

/* A number that was read; |behind| is NULL if it passes the end, or is more than 64 bits long. */
struct layout_varint {
    const uint8_t *behind;
    uint64_t value;
};

/* A number of more than 4 bytes. */
struct layout_varint layout_wide_varint(const uint8_t *p, const uint8_t *end);

/* Reads a list into |r->lists| and sets |at|, its field.  Returns what is behind it, or NULL. */
const uint8_t *layout_get_numbers(struct layout_reader *r, const uint8_t *p, const uint8_t *end,
                                  void *at);

/* The layout_get of kinds that have none of their own. */
layout_get layout_get_any;

/* Says what is wrong with the field at |p|, which ends the record.  Returns the negative code. */
int layout_bad_field(const struct layout_reader *r, const struct layout_kind *kind,
                     const struct layout_field *field, const uint8_t *p, const uint8_t *end,
                     struct err *err);
/* The same of a record that goes on behind its last field. */
int layout_bytes_left(const struct layout_kind *kind, const uint8_t *p, const uint8_t *end,
                      struct err *err);

/* Returns what is behind the number at |p|, or NULL as above.  LAYOUT_SLACK bytes behind |end| can
 * be read. */
LAYOUT_INLINE const uint8_t *layout_get_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    struct layout_varint wide;
    uint32_t v, last;

    if (__builtin_expect(*p < 0x80, 1)) {
        *out = *p++;
        return p <= end ? p : NULL;
    }
    v = load_le32(p);
    last = ~v & UINT32_C(0x80808080);
    if (!last) {
        wide = layout_wide_varint(p, end);
        *out = wide.value;
        return wide.behind;
    }
    p += (unsigned)__builtin_ctz(last) / 8 + 1;
    v &= last ^ (last - 1);
    v = (v & UINT32_C(0x007f007f)) | (v & UINT32_C(0x7f007f00)) >> 1;
    *out = (uint16_t)v | v >> 16 << 14;
    return p <= end ? p : NULL;
}

LAYOUT_INLINE uint64_t layout_unzigzag(uint64_t v)
{
    return v >> 1 ^ -(v & 1);
}

LAYOUT_INLINE void layout_store16(void *at, uint16_t v)
{
    memcpy(at, &v, sizeof(v));
}

LAYOUT_INLINE void layout_store32(void *at, uint32_t v)
{
    memcpy(at, &v, sizeof(v));
}

LAYOUT_INLINE void layout_store64(void *at, uint64_t v)
{
    memcpy(at, &v, sizeof(v));
}

/* Reads the field at |p|; returns what is behind it, or NULL: it is wrong.  The speed of reading
 * depends on it. */
LAYOUT_INLINE const uint8_t *layout_get_field(struct layout_reader *r,
                                              const struct layout_field *field, const uint8_t *p,
                                              const uint8_t *end, void *record)
{
    void *at = (uint8_t *)record + field->offset;
    const size_t type = field->type;
    uint64_t v;

    switch ((enum layout_type)type) {
    case LAYOUT_U8:
        p = layout_get_varint(p, end, &v);
        *(uint8_t *)at = (uint8_t)v;
        return p && v >> 8 ? NULL : p;
    case LAYOUT_U16:
        p = layout_get_varint(p, end, &v);
        layout_store16(at, (uint16_t)v);
        return p && v >> 16 ? NULL : p;
    case LAYOUT_U32:
        p = layout_get_varint(p, end, &v);
        layout_store32(at, (uint32_t)v);
        return p && v >> 32 ? NULL : p;
    case LAYOUT_I32:
        p = layout_get_varint(p, end, &v);
        layout_store32(at, (uint32_t)layout_unzigzag(v));
        return p && v >> 32 ? NULL : p;
    case LAYOUT_U64:
        p = layout_get_varint(p, end, &v);
        layout_store64(at, v);
        return p;
    case LAYOUT_I64:
        p = layout_get_varint(p, end, &v);
        layout_store64(at, layout_unzigzag(v));
        return p;
    case LAYOUT_FRAME:
    case LAYOUT_TIME:
    case LAYOUT_OPERATION:
        p = layout_get_varint(p, end, &v);
        v = r->bases.last[type - LAYOUT_FRAME] += layout_unzigzag(v);
        layout_store64(at, v);
        return p;
    case LAYOUT_BYTES:
    case LAYOUT_TEXT:
        p = layout_get_varint(p, end, &v);
        if (!p || v > (uint64_t)(end - p))
            return NULL;
        ((struct bytes *)at)->data = p;
        ((struct bytes *)at)->len = (uint32_t)v;
        return p + v;
    case LAYOUT_NUMBERS:
        return layout_get_numbers(r, p, end, at);
    case LAYOUT_BOOL:
        *(bool *)at = true;
        return p;
    case LAYOUT_ADDRESS:
        if (p == end || (*p != 4 && *p != 6))
            return NULL;
        ((struct address *)at)->version = *p;
        v = *p++ == 4 ? 4 : 16;
        if ((uint64_t)(end - p) < v)
            return NULL;
        memcpy(((struct address *)at)->bytes, p, v);
        return p + v;
    case LAYOUT_DIGEST:
        if (end - p < LAYOUT_DIGEST_LEN)
            return NULL;
        memcpy(at, p, LAYOUT_DIGEST_LEN);
        return p + LAYOUT_DIGEST_LEN;
    case LAYOUT_HASH:
        if (end - p < 8)
            return NULL;
        layout_store64(at, load_be64(p));
        return p + 8;
    case LAYOUT_TYPE_MAX:
        break;
    }
    __builtin_unreachable(); /* in no table */
}

/* Sets a field that is absent. */
LAYOUT_INLINE void layout_clear_field(const struct layout_reader *r,
                                      const struct layout_field *field, void *record)
{
    static const uint8_t size[LAYOUT_TYPE_MAX] = {
#define TYPE(type, name, in_record) sizeof(in_record),
        LAYOUT_TYPES(TYPE)
#undef TYPE
    };
    void *at = (uint8_t *)record + field->offset;

    if (field->type == LAYOUT_TIME)
        layout_store64(at, (uint64_t)r->format->no_time);
    else
        memset(at, 0, size[field->type]);
}

/* A layout_get for a kind whose table, of |count| |fields|, the compiler knows.  What is absent is
 * cleared field by field. */
LAYOUT_INLINE int layout_get_known(struct layout_reader *r, const struct layout_kind *kind,
                                   const struct layout_field *fields, unsigned count,
                                   uint64_t presence, const uint8_t *p, void *record,
                                   struct err *err)
{
    const uint8_t *end = r->at, *behind;

#pragma GCC unroll 64
    for (unsigned i = 0; i < count; i++) {
        if (presence & UINT64_C(1) << i) {
            behind = layout_get_field(r, &fields[i], p, end, record);
            if (!behind)
                return layout_bad_field(r, kind, &fields[i], p, end, err);
            p = behind;
        } else {
            layout_clear_field(r, &fields[i], record);
        }
    }
    if (p == end || (count < LAYOUT_FIELDS_MAX && presence >> count))
        return 0;
    return layout_bytes_left(kind, p, end, err);
}

#endif
