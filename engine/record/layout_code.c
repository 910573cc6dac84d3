/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_code.c
 *
 * Encodes and decodes one record by the table:
 *     kind (a byte), length (varint), presence (varint), the present fields in table order.
 * A field that is zero, empty or unset is absent; a time is absent if it is the format's |no_time|.
 * This is the inner loop of every pipe, so one switch does all types, without a call for each
 * field.
 */
#include "record/format.h"

enum {
    VARINT_MAX = 10, /* bytes of a 64-bit number */
    NUMBER_MAX = 5,  /* of one of 32 bits */
    HEAD = 3,        /* kind and a length of two bytes, the most frequent size */
    FIXED_MAX = HEAD + VARINT_MAX + LAYOUT_FIELDS_MAX * 17, /* of a record, without its bytes */
};

static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* NULL: the number passes |end|, or is more than 64 bits long. */
static const uint8_t *get_any_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;

    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        uint8_t byte = *p++;

        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = v;
            return shift == 63 && byte > 1 ? NULL : p;
        }
    }
    return NULL;
}

/* The same; LAYOUT_SLACK bytes behind |end| can be read.  Most numbers have 1 to 8 bytes, which are
 * joined without a branch for each: pairs of 7 bits become 14, these 28, these 56. */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t v, last;

    if (*p < 0x80) {
        *out = *p++;
        return p <= end ? p : NULL;
    }
    v = load_le64(p);
    last = ~v & UINT64_C(0x8080808080808080);
    if (!last)
        return get_any_varint(p, end, out);
    last &= -last; /* the upper bit of the last byte */
    v &= last | (last - 1);
    v &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    *out = (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
    p += (unsigned)__builtin_ctzll(last) / 8 + 1;
    return p <= end ? p : NULL;
}

/* Small numbers of either sign become small ones without. */
static inline uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ -(v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ -(v & 1);
}

static inline uint64_t load(const void *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static inline uint32_t load32(const void *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static inline uint16_t load16(const void *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

/* Puts kind, length and presence before the fields that end at |p|; returns the record's end. */
static uint8_t *put_head(uint8_t *start, uint8_t *p, unsigned kind, unsigned presence_len,
                         uint64_t presence)
{
    uint8_t *body = start + HEAD;
    size_t len = (size_t)(p - body);
    uint8_t head[1 + VARINT_MAX], *head_end;

    for (unsigned i = 0; i < presence_len; i++, presence >>= 7)
        body[i] = (uint8_t)((presence & 0x7f) | (i + 1 < presence_len ? 0x80 : 0));
    head[0] = (uint8_t)kind;
    head_end = put_varint(head + 1, len);
    if (head_end != head + HEAD)
        memmove(start + (head_end - head), body, len);
    memcpy(start, head, (size_t)(head_end - head));
    return start + (head_end - head) + len;
}

/* A record that is being written. */
struct written {
    const struct layout_kind *kind;
    struct buf *out;
    size_t start; /* in |out| */
};

/* Room for |len| bytes behind |p|, where the record has come to; returns the new |p|, or NULL with
 * |err| filled. */
static inline uint8_t *make_room(const struct written *w, uint8_t *p, size_t len, struct err *err)
{
    struct buf *out = w->out;

    out->len = (size_t)(p - out->data);
    if (out->len - w->start + len > NFSR_RECORD_MAX - FIXED_MAX) {
        err_set(err, ERR_USAGE, "%s record longer than %d bytes", w->kind->name, NFSR_RECORD_MAX);
        return NULL;
    }
    if (buf_reserve(out, len + (size_t)FIXED_MAX) < 0) {
        err_memory(err, "a record");
        return NULL;
    }
    return out->data + out->len;
}

/* A list, as its count and differences.  Apart, for the sake of what most records have. */
static __attribute__((noinline)) uint8_t *put_numbers(const struct written *w,
                                                      const struct layout_field *field,
                                                      struct layout_numbers numbers, uint8_t *p,
                                                      struct err *err)
{
    uint32_t last = 0;

    p = make_room(w, p, (size_t)numbers.count * NUMBER_MAX, err);
    if (!p)
        return NULL;
    p = put_varint(p, numbers.count);
    for (uint32_t i = 0; i < numbers.count; i++) {
        if (numbers.at[i] < last) {
            err_set(err, ERR_USAGE, "%s record with %s that fall", w->kind->name, field->name);
            return NULL;
        }
        p = put_varint(p, numbers.at[i] - last);
        last = numbers.at[i];
    }
    return p;
}

/* It is long because it is one switch over the types of fields.  The speed of writing depends on
 * it. */
int layout_encode(const struct format *format, unsigned number, const void *record,
                  struct layout_bases *bases, struct buf *out, struct err *err)
{
    const struct layout_kind *kind = &format->kinds[number < format->kind_max ? number : 0];
    const struct layout_field *field = kind->fields, *end = field + kind->count;
    const uint8_t *from = record;
    unsigned presence_len = (kind->count + 6u) / 7;
    uint64_t presence = 0;
    const struct written w = { kind, out, out->len };
    struct err unseen;
    uint8_t *p;

    if (!err)
        err = &unseen;
    if (!kind->count)
        return err_set(err, ERR_USAGE, "record of unknown kind %u", number);
    if (buf_reserve(out, FIXED_MAX) < 0)
        return err_memory(err, "a record");
    p = out->data + w.start + HEAD + presence_len;
    for (uint64_t bit = 1; field < end; field++, bit <<= 1) {
        const void *at = from + field->offset;
        const struct bytes *bytes;
        const struct address *address;
        struct layout_numbers numbers;
        uint64_t v;

        switch (field->type) {
        case LAYOUT_U8:
            v = *(const uint8_t *)at;
            break;
        case LAYOUT_U16:
            v = load16(at);
            break;
        case LAYOUT_U32:
            v = load32(at);
            break;
        case LAYOUT_U64:
            v = load(at);
            break;
        case LAYOUT_I32:
            v = zigzag((uint64_t)(int32_t)load32(at));
            break;
        case LAYOUT_I64:
            v = zigzag(load(at));
            break;
        case LAYOUT_BOOL:
            if (*(const bool *)at)
                presence |= bit;
            continue;
        case LAYOUT_BYTES:
        case LAYOUT_TEXT:
            bytes = at;
            if (!bytes->len)
                continue;
            presence |= bit;
            p = make_room(&w, p, bytes->len, err);
            if (!p)
                return -err->code;
            p = put_varint(p, bytes->len);
            memcpy(p, bytes->data, bytes->len);
            p += bytes->len;
            continue;
        case LAYOUT_ADDRESS:
            address = at;
            if (!address->version)
                continue;
            if (address->version != 4 && address->version != 6)
                return err_set(err, ERR_USAGE, "%s record with an IP version %u in %s", kind->name,
                               address->version, field->name);
            presence |= bit;
            *p++ = address->version;
            memcpy(p, address->bytes, sizeof(address->bytes));
            p += address_len(address);
            continue;
        case LAYOUT_DIGEST:
            if (!(load(at) | load((const uint8_t *)at + 8)))
                continue;
            presence |= bit;
            memcpy(p, at, LAYOUT_DIGEST_LEN);
            p += LAYOUT_DIGEST_LEN;
            continue;
        case LAYOUT_HASH:
            v = load(at);
            if (!v)
                continue;
            presence |= bit;
            store_be64(p, v);
            p += 8;
            continue;
        case LAYOUT_NUMBERS:
            numbers = layout_numbers(at);
            if (!numbers.count)
                continue;
            presence |= bit;
            p = put_numbers(&w, field, numbers, p, err);
            if (!p)
                return -err->code;
            continue;
        default: /* FRAME, TIME, OPERATION */
            v = load(at);
            if (v == (field->type == LAYOUT_TIME ? (uint64_t)format->no_time : 0))
                continue;
            presence |= bit;
            p = put_varint(p, zigzag(v - bases->last[field->type - LAYOUT_FRAME]));
            bases->last[field->type - LAYOUT_FRAME] = v;
            continue;
        }
        if (!v)
            continue;
        presence |= bit;
        p = put_varint(p, v);
    }
    p = put_head(out->data + w.start, p, number, presence_len, presence);
    out->len = (size_t)(p - out->data);
    return 0;
}

static int bad_field(struct err *err, const struct layout_kind *kind, unsigned i, const char *what)
{
    return err_set(err, ERR_INPUT, "%s record: field %s %s", kind->name, kind->fields[i].name,
                   what);
}

/* |count| differences from |p| on as numbers, into |lists|; returns what is behind them.  NULL:
 * they pass |end| or 32 bits.  |lists| has room for a number for each byte. */
static __attribute__((noinline)) const uint8_t *
get_numbers(const uint8_t *p, const uint8_t *end, uint64_t count, struct buf *lists, void *at)
{
    struct layout_numbers numbers = { NULL, (uint32_t)count };
    uint64_t step, last = 0;
    uint32_t *to;

    if (count > (uint64_t)(end - p)) /* each has a byte at least */
        return NULL;
    to = (uint32_t *)(void *)(lists->data + lists->len);
    numbers.at = to;
    for (uint64_t i = 0; i < count; i++) {
        p = get_varint(p, end, &step);
        if (!p || step > UINT32_MAX - last)
            return NULL;
        last += step;
        to[i] = (uint32_t)last;
    }
    lists->len += count * sizeof(*to);
    memcpy(at, &numbers, sizeof(numbers.at) + sizeof(numbers.count));
    return p;
}

/* Fields of |kind| that |presence| names, from |p| on, which must end at |end| unless |rest| allows
 * fields that the table lacks.  It is long because it is one switch over the types of fields.
 * The speed of reading depends on it.  Its many parameters stay in registers; as a struct they
 * cost 4 %. */
static int get_fields(const struct layout_kind *kind, uint64_t presence, const uint8_t *p,
                      const uint8_t *end, bool rest, struct layout_bases *bases, void *record,
                      struct buf *lists, struct err *err)
{
    uint8_t *to = record;

    lists->len = 0;
    for (; presence; presence &= presence - 1) {
        unsigned i = (unsigned)__builtin_ctzll(presence);
        const struct layout_field *field = &kind->fields[i];
        void *at = to + field->offset;
        const enum layout_type type = field->type;
        uint64_t v = 0, above = 0; /* |above|: what the type has no room for */
        uint32_t v32;
        uint16_t v16;

        if (type < LAYOUT_NO_NUMBER) {
            p = get_varint(p, end, &v);
            if (!p)
                return bad_field(err, kind, i, "passes the record's end");
        }
        switch (type) {
        case LAYOUT_U8:
            *(uint8_t *)at = (uint8_t)v;
            above = v >> 8;
            break;
        case LAYOUT_U16:
            v16 = (uint16_t)v;
            memcpy(at, &v16, sizeof(v16));
            above = v >> 16;
            break;
        case LAYOUT_I32:
            v32 = (uint32_t)unzigzag(v);
            memcpy(at, &v32, sizeof(v32));
            above = v >> 32;
            break;
        case LAYOUT_U32:
            v32 = (uint32_t)v;
            memcpy(at, &v32, sizeof(v32));
            above = v >> 32;
            break;
        case LAYOUT_I64:
            v = unzigzag(v);
            memcpy(at, &v, sizeof(v));
            continue;
        case LAYOUT_U64:
            memcpy(at, &v, sizeof(v));
            continue;
        case LAYOUT_BOOL:
            *(bool *)at = true;
            continue;
        case LAYOUT_BYTES:
        case LAYOUT_TEXT:
            if (v > (uint64_t)(end - p))
                return bad_field(err, kind, i, "passes the record's end");
            ((struct bytes *)at)->data = p;
            ((struct bytes *)at)->len = (uint32_t)v;
            p += v;
            continue;
        case LAYOUT_ADDRESS:
            if (p == end || (*p != 4 && *p != 6))
                return bad_field(err, kind, i, "is not an address");
            v = *p++;
            if (end - p < (v == 4 ? 4 : 16))
                return bad_field(err, kind, i, "passes the record's end");
            ((struct address *)at)->version = (uint8_t)v;
            memcpy(((struct address *)at)->bytes, p, v == 4 ? 4 : 16);
            p += v == 4 ? 4 : 16;
            continue;
        case LAYOUT_DIGEST:
            if (end - p < LAYOUT_DIGEST_LEN)
                return bad_field(err, kind, i, "passes the record's end");
            memcpy(at, p, LAYOUT_DIGEST_LEN);
            p += LAYOUT_DIGEST_LEN;
            continue;
        case LAYOUT_HASH:
            if (end - p < 8)
                return bad_field(err, kind, i, "passes the record's end");
            v = load_be64(p);
            memcpy(at, &v, sizeof(v));
            p += 8;
            continue;
        case LAYOUT_NUMBERS:
            /* once for all lists of the record, so that they stay where they are */
            if (!lists->len && buf_reserve(lists, (size_t)(end - p + 1) * sizeof(uint32_t)) < 0)
                return err_set(err, ERR_SYSTEM, "%s record: out of memory for %s", kind->name,
                               field->name);
            p = get_numbers(p, end, v, lists, at);
            if (!p)
                return bad_field(err, kind, i, "passes the record's end, or 32 bits");
            continue;
        case LAYOUT_FRAME:
        case LAYOUT_TIME:
        case LAYOUT_OPERATION:
            v = bases->last[type - LAYOUT_FRAME] + unzigzag(v);
            bases->last[type - LAYOUT_FRAME] = v;
            memcpy(at, &v, sizeof(v));
            continue;
        case LAYOUT_TYPE_MAX:
            break;
        }
        if (above)
            return bad_field(err, kind, i, "is out of its type's range");
    }
    if (p != end && !rest)
        return err_set(err, ERR_INPUT, "%s record: %td bytes left over", kind->name, end - p);
    return 0;
}

int layout_decode(const struct format *format, const uint8_t **at, const uint8_t *end, bool later,
                  struct layout_bases *bases, unsigned *number, void *record, struct buf *lists,
                  struct err *err)
{
    const struct layout_kind *kind;
    const uint8_t *p = *at, *record_end;
    uint64_t len, presence, unknown;

    if (p == end)
        return err_set(err, ERR_INPUT, "record passes the block's end");
    *number = *p++;
    p = get_varint(p, end, &len);
    if (!p || len > (uint64_t)(end - p))
        return err_set(err, ERR_INPUT, "record passes the block's end");
    record_end = p + len;
    *at = record_end;
    kind = &format->kinds[*number < format->kind_max ? *number : 0];
    if (!kind->count) {
        if (later && *number >= format->kind_max)
            return LAYOUT_UNKNOWN;
        return err_set(err, ERR_INPUT, "record of unknown kind %u", *number);
    }
    p = get_varint(p, record_end, &presence);
    if (!p)
        return err_set(err, ERR_INPUT, "%s record: its presence word passes its end", kind->name);
    unknown = kind->count < LAYOUT_FIELDS_MAX ? presence >> kind->count : 0;
    if (unknown && !later)
        return err_set(err, ERR_INPUT, "%s record: has fields that its version lacks", kind->name);
    if (unknown)
        presence &= (UINT64_C(1) << kind->count) - 1;
    memset((uint8_t *)record + format->clear_from, 0, format->clear_len);
    for (uint64_t missing = kind->times & ~presence; missing; missing &= missing - 1)
        memcpy((uint8_t *)record + kind->fields[__builtin_ctzll(missing)].offset, &format->no_time,
               sizeof(format->no_time));
    return get_fields(kind, presence, p, record_end, unknown, bases, record, lists, err);
}
