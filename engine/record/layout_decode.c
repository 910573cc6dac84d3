/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_decode.c
 *
 * Decodes the fields of a record by the table; layout_encode.c says what it looks like.  Every
 * reader spends its time here and in layout_fields.h.
 */
#include "record/layout_fields.h"

/* Of any length, byte by byte. */
static struct layout_varint get_long_varint(const uint8_t *p, const uint8_t *end)
{
    struct layout_varint v = { 0 };

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

/* Up to 8 bytes are joined without a branch for each: pairs of 7 bits become 14, these 28, these
 * 56. */
struct layout_varint layout_wide_varint(const uint8_t *p, const uint8_t *end)
{
    uint64_t v = load_le64(p), last = ~v & UINT64_C(0x8080808080808080);

    if (!last)
        return get_long_varint(p, end);
    p += (unsigned)__builtin_ctzll(last) / 8 + 1;
    v &= last ^ (last - 1); /* up to the upper bit of the last byte */
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    v = (uint32_t)v | v >> 32 << 28;
    return (struct layout_varint){ p <= end ? p : NULL, v };
}

/* Makes room for all lists of a record at once, so that they stay where they are.  Each number has
 * a byte at least. */
static inline bool have_room(struct buf *lists, const uint8_t *p, const uint8_t *end)
{
    size_t size = (size_t)(end - p + 1) * sizeof(uint32_t);

    return lists->len || size <= lists->cap || buf_reserve(lists, size) == 0;
}

const uint8_t *layout_get_numbers(struct layout_reader *r, const uint8_t *p, const uint8_t *end,
                                  void *at)
{
    uint64_t count, step, last = 0;
    uint32_t *to;

    p = layout_get_varint(p, end, &count);
    r->no_memory = p && !have_room(&r->lists, p, end);
    if (!p || r->no_memory || count > (uint64_t)(end - p))
        return NULL;
    to = (uint32_t *)(void *)(r->lists.data + r->lists.len);
    r->lists.len += count * sizeof(*to);
    memcpy(at, &to, sizeof(to));
    layout_store32((uint8_t *)at + sizeof(to), (uint32_t)count);
    for (const uint32_t *behind = to + count; to < behind; to++) {
        p = layout_get_varint(p, end, &step);
        if (!p || step > UINT32_MAX - last)
            return NULL;
        last += step;
        *to = (uint32_t)last;
    }
    return p;
}

__attribute__((cold)) int layout_bad_field(const struct layout_reader *r,
                                           const struct layout_kind *kind,
                                           const struct layout_field *field, const uint8_t *p,
                                           const uint8_t *end, struct err *err)
{
    const char *problem = "passes the record's end";
    bool has_number = false;
    uint64_t v;

    if (field->type == LAYOUT_NUMBERS && r->no_memory)
        return err_set(err, ERR_SYSTEM, "%s record: out of memory for %s", kind->name, field->name);
    if (field->type < LAYOUT_NO_NUMBER)
        has_number = layout_get_varint(p, end, &v);
    if (field->type == LAYOUT_ADDRESS && (p == end || (*p != 4 && *p != 6)))
        problem = "is not an address";
    if (has_number && field->type == LAYOUT_NUMBERS)
        problem = "passes the record's end, or 32 bits";
    else if (has_number && field->type != LAYOUT_BYTES && field->type != LAYOUT_TEXT)
        problem = "is out of its type's range";
    return err_set(err, ERR_INPUT, "%s record: field %s %s", kind->name, field->name, problem);
}

__attribute__((cold)) int layout_bytes_left(const struct layout_kind *kind, const uint8_t *p,
                                            const uint8_t *end, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s record: %td bytes left over", kind->name, end - p);
}

int layout_get_any(struct layout_reader *r, const struct layout_kind *kind, uint64_t presence,
                   const uint8_t *p, void *record, struct err *err)
{
    const struct format *format = r->format;
    const struct layout_field *fields = kind->fields;
    const uint8_t *end = r->at, *behind;
    uint64_t unknown = kind->count < LAYOUT_FIELDS_MAX ? presence >> kind->count : 0;

    if (unknown)
        presence &= (UINT64_C(1) << kind->count) - 1;
    memset((uint8_t *)record + format->clear_from, 0, format->clear_len);
    for (uint64_t missing = kind->times & ~presence; missing; missing &= missing - 1)
        layout_store64((uint8_t *)record + fields[__builtin_ctzll(missing)].offset,
                       (uint64_t)format->no_time);
    for (; presence; presence &= presence - 1) {
        const struct layout_field *field = &fields[__builtin_ctzll(presence)];

        behind = layout_get_field(r, field, p, end, record);
        if (!behind)
            return layout_bad_field(r, kind, field, p, end, err);
        p = behind;
    }
    return p == end || unknown ? 0 : layout_bytes_left(kind, p, end, err);
}
