/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_encode.c
 *
 * Encodes one record by the table:
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

/* Small numbers of either sign become small ones without. */
static inline uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ -(v >> 63);
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
        uint64_t v = 0;

        switch ((enum layout_type)field->type) {
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
        case LAYOUT_FRAME:
        case LAYOUT_TIME:
        case LAYOUT_OPERATION:
        case LAYOUT_TYPE_MAX: /* in no table */
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
