/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_decode.c
 *
 * Decodes one record by the table; layout_encode.c says what it looks like.  Every reader spends
 * its time here: one switch reads and stores a field, and what is rare (numbers of more than 28
 * bits, errors) is left to functions of their own.
 */
#include "record/format.h"

/* A number that was read; |behind| is NULL if it passes the end, or is more than 64 bits long. */
struct varint {
    const uint8_t *behind;
    uint64_t value;
};

/* Of any length, byte by byte. */
static struct varint get_long_varint(const uint8_t *p, const uint8_t *end)
{
    struct varint v = { 0 };

    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        uint8_t byte = *p++;

        v.value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            v.behind = shift == 63 && byte > 1 ? NULL : p;
            return v;
        }
    }
    return v;
}

/* Of more than 4 bytes.  Up to 8 are joined without a branch for each: pairs of 7 bits become 14,
 * these 28, these 56. */
static __attribute__((noinline)) struct varint get_wide_varint(const uint8_t *p, const uint8_t *end)
{
    uint64_t v = load_le64(p), last = ~v & UINT64_C(0x8080808080808080);

    if (!last)
        return get_long_varint(p, end);
    p += (unsigned)__builtin_ctzll(last) / 8 + 1;
    v &= last ^ (last - 1); /* up to the upper bit of the last byte */
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    v = (uint32_t)v | v >> 32 << 28;
    return (struct varint){ p <= end ? p : NULL, v };
}

/* Returns what is behind the number at |p|, or NULL as above.  LAYOUT_SLACK bytes behind |end| can
 * be read. */
static inline __attribute__((always_inline)) const uint8_t *
get_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    struct varint wide;
    uint32_t v, last;

    if (__builtin_expect(*p < 0x80, 1)) {
        *out = *p++;
        return p <= end ? p : NULL;
    }
    v = load_le32(p);
    last = ~v & UINT32_C(0x80808080);
    if (!last) {
        wide = get_wide_varint(p, end);
        *out = wide.value;
        return wide.behind;
    }
    p += (unsigned)__builtin_ctz(last) / 8 + 1;
    v &= last ^ (last - 1);
    v = (v & UINT32_C(0x007f007f)) | (v & UINT32_C(0x7f007f00)) >> 1;
    *out = (uint16_t)v | v >> 16 << 14;
    return p <= end ? p : NULL;
}

static inline uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ -(v & 1);
}

static inline void store16(void *at, uint16_t v)
{
    memcpy(at, &v, sizeof(v));
}

static inline void store32(void *at, uint32_t v)
{
    memcpy(at, &v, sizeof(v));
}

static inline void store64(void *at, uint64_t v)
{
    memcpy(at, &v, sizeof(v));
}

/* |count| differences from |p| on as numbers, to |to|; returns what is behind them.  NULL: they
 * pass |end| or 32 bits. */
static __attribute__((noinline)) const uint8_t *get_numbers(const uint8_t *p, const uint8_t *end,
                                                            uint32_t *to, uint64_t count)
{
    uint64_t step, last = 0;

    for (const uint32_t *behind = to + count; to < behind; to++) {
        p = get_varint(p, end, &step);
        if (!p || step > UINT32_MAX - last)
            return NULL;
        last += step;
        *to = (uint32_t)last;
    }
    return p;
}

static __attribute__((cold, noinline)) int bad_field(struct err *err,
                                                     const struct layout_kind *kind,
                                                     const struct layout_field *field,
                                                     const char *what)
{
    return err_set(err, ERR_INPUT, "%s record: field %s %s", kind->name, field->name, what);
}

/* Makes room for all lists of a record at once, so that they stay where they are.  Each number has
 * a byte at least. */
static inline bool have_room(struct buf *lists, const uint8_t *p, const uint8_t *end)
{
    size_t size = (size_t)(end - p + 1) * sizeof(uint32_t);

    return lists->len || size <= lists->cap || buf_reserve(lists, size) == 0;
}

/* Fields of |kind| that |presence| names, from |p| on, which must end at |end| unless |rest| allows
 * fields that the table lacks.  It is long because it is one switch over the types of fields.
 * The speed of reading depends on it.  A good field continues the loop; what breaks out of the
 * switch is not one. */
static int get_fields(struct layout_reader *r, const struct layout_kind *kind, uint64_t presence,
                      const uint8_t *p, const uint8_t *end, bool rest, void *record,
                      struct err *err)
{
    const struct layout_field *fields = kind->fields;
    const char *problem;

    r->lists.len = 0;
    for (; presence; presence &= presence - 1) {
        const struct layout_field *field = &fields[__builtin_ctzll(presence)];
        void *at = (uint8_t *)record + field->offset;
        const size_t type = field->type;
        uint32_t *to;
        uint64_t v;

        problem = "passes the record's end";
        switch ((enum layout_type)type) {
        case LAYOUT_U8:
            p = get_varint(p, end, &v);
            if (!p || v >> 8)
                break;
            *(uint8_t *)at = (uint8_t)v;
            continue;
        case LAYOUT_U16:
            p = get_varint(p, end, &v);
            if (!p || v >> 16)
                break;
            store16(at, (uint16_t)v);
            continue;
        case LAYOUT_U32:
            p = get_varint(p, end, &v);
            if (!p || v >> 32)
                break;
            store32(at, (uint32_t)v);
            continue;
        case LAYOUT_I32:
            p = get_varint(p, end, &v);
            if (!p || v >> 32)
                break;
            store32(at, (uint32_t)unzigzag(v));
            continue;
        case LAYOUT_U64:
            p = get_varint(p, end, &v);
            if (!p)
                break;
            store64(at, v);
            continue;
        case LAYOUT_I64:
            p = get_varint(p, end, &v);
            if (!p)
                break;
            store64(at, unzigzag(v));
            continue;
        case LAYOUT_FRAME:
        case LAYOUT_TIME:
        case LAYOUT_OPERATION:
            p = get_varint(p, end, &v);
            if (!p)
                break;
            v = r->bases.last[type - LAYOUT_FRAME] += unzigzag(v);
            store64(at, v);
            continue;
        case LAYOUT_BYTES:
        case LAYOUT_TEXT:
            p = get_varint(p, end, &v);
            if (!p || v > (uint64_t)(end - p))
                return bad_field(err, kind, field, problem);
            ((struct bytes *)at)->data = p;
            ((struct bytes *)at)->len = (uint32_t)v;
            p += v;
            continue;
        case LAYOUT_NUMBERS:
            p = get_varint(p, end, &v);
            if (!p)
                break;
            if (!have_room(&r->lists, p, end))
                return err_set(err, ERR_SYSTEM, "%s record: out of memory for %s", kind->name,
                               field->name);
            to = (uint32_t *)(void *)(r->lists.data + r->lists.len);
            memcpy(at, &to, sizeof(to));
            store32((uint8_t *)at + sizeof(to), (uint32_t)v);
            p = v <= (uint64_t)(end - p) ? get_numbers(p, end, to, v) : NULL;
            r->lists.len += v * sizeof(*to);
            if (!p)
                return bad_field(err, kind, field, "passes the record's end, or 32 bits");
            continue;
        case LAYOUT_BOOL:
            *(bool *)at = true;
            continue;
        case LAYOUT_ADDRESS:
            if (p == end || (*p != 4 && *p != 6))
                return bad_field(err, kind, field, "is not an address");
            v = *p++ == 4 ? 4 : 16;
            if ((uint64_t)(end - p) < v)
                return bad_field(err, kind, field, problem);
            ((struct address *)at)->version = v == 4 ? 4 : 6;
            memcpy(((struct address *)at)->bytes, p, v);
            p += v;
            continue;
        case LAYOUT_DIGEST:
            if (end - p < LAYOUT_DIGEST_LEN)
                return bad_field(err, kind, field, problem);
            memcpy(at, p, LAYOUT_DIGEST_LEN);
            p += LAYOUT_DIGEST_LEN;
            continue;
        case LAYOUT_HASH:
            if (end - p < 8)
                return bad_field(err, kind, field, problem);
            store64(at, load_be64(p));
            p += 8;
            continue;
        case LAYOUT_TYPE_MAX:
        default: /* in no table */
            __builtin_unreachable();
        }
        return bad_field(err, kind, field, p ? "is out of its type's range" : problem);
    }
    if (p != end && !rest)
        return err_set(err, ERR_INPUT, "%s record: %td bytes left over", kind->name, end - p);
    return 0;
}

int layout_decode(struct layout_reader *r, unsigned *number, void *record, struct err *err)
{
    const struct format *format = r->format;
    const struct layout_kind *kind;
    const uint8_t *p = r->at, *end;
    uint64_t len, presence, unknown;

    if (p == r->end)
        return err_set(err, ERR_INPUT, "record passes the block's end");
    *number = *p++;
    p = get_varint(p, r->end, &len);
    if (!p || len > (uint64_t)(r->end - p))
        return err_set(err, ERR_INPUT, "record passes the block's end");
    end = p + len;
    r->at = end;
    kind = &format->kinds[*number < format->kind_max ? *number : 0];
    if (!kind->count) {
        if (r->later && *number >= format->kind_max)
            return LAYOUT_UNKNOWN;
        return err_set(err, ERR_INPUT, "record of unknown kind %u", *number);
    }
    p = get_varint(p, end, &presence);
    if (!p)
        return err_set(err, ERR_INPUT, "%s record: its presence word passes its end", kind->name);
    unknown = kind->count < LAYOUT_FIELDS_MAX ? presence >> kind->count : 0;
    if (unknown && !r->later)
        return err_set(err, ERR_INPUT, "%s record: has fields that its version lacks", kind->name);
    if (unknown)
        presence &= (UINT64_C(1) << kind->count) - 1;
    memset((uint8_t *)record + format->clear_from, 0, format->clear_len);
    for (uint64_t missing = kind->times & ~presence; missing; missing &= missing - 1)
        store64((uint8_t *)record + kind->fields[__builtin_ctzll(missing)].offset,
                (uint64_t)format->no_time);
    return get_fields(r, kind, presence, p, end, unknown, record, err);
}
