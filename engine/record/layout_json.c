/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_json.c
 *
 * A record as one JSON object, from the table: for people and for tests.
 */
#include "record/format.h"

#include <inttypes.h>
#include <stdio.h>

static int put(struct buf *out, const char *text)
{
    return buf_append(out, text, strlen(text));
}

static int put_hex(struct buf *out, const uint8_t *data, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    if (buf_reserve(out, 2 * len + 2) < 0)
        return -ERR_SYSTEM;
    out->data[out->len++] = '"';
    for (size_t i = 0; i < len; i++) {
        out->data[out->len++] = (uint8_t)digits[data[i] >> 4];
        out->data[out->len++] = (uint8_t)digits[data[i] & 15];
    }
    out->data[out->len++] = '"';
    return 0;
}

/* Bytes of the UTF-8 sequence at |p| (RFC 3629 s4); 0: there is none. */
static size_t utf8_len(const uint8_t *p, size_t left)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t code = p[0] & (0x7fu >> len);

    if (p[0] > 0xf4 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (len > 1 && (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
        return 0;
    return len;
}

static int put_text(struct buf *out, const struct bytes *text)
{
    size_t len;

    if (put(out, "\"") < 0)
        return -ERR_SYSTEM;
    for (size_t i = 0; i < text->len; i += len) {
        const uint8_t *p = text->data + i;
        char escape[8];
        int result;

        len = utf8_len(p, text->len - i);
        if (len == 1 && (*p == '"' || *p == '\\'))
            snprintf(escape, sizeof(escape), "\\%c", *p);
        else if (len == 1 && (*p < 0x20 || *p == 0x7f))
            snprintf(escape, sizeof(escape), "\\u%04x", *p);
        else if (!len)
            snprintf(escape, sizeof(escape), "\\udc%02x", *p);
        else
            escape[0] = '\0';
        result = escape[0] ? put(out, escape) : buf_append(out, p, len);
        if (result < 0)
            return result;
        if (!len)
            len = 1;
    }
    return put(out, "\"");
}

static int put_unsigned(struct buf *out, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return put(out, text);
}

static int put_signed(struct buf *out, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    return put(out, text);
}

static int put_address(struct buf *out, const struct address *address)
{
    char text[ADDRESS_TEXT_MAX];

    if (!address->version)
        return put(out, "null");
    address_text(address, text);
    return put_text(out, &(struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) });
}

static int put_hash(struct buf *out, uint64_t hash)
{
    uint8_t bytes[8];

    store_be64(bytes, hash);
    return put_hex(out, bytes, sizeof(bytes));
}

static int put_numbers(struct buf *out, const void *at)
{
    struct layout_numbers numbers = layout_numbers(at);
    int result = put(out, "[");

    for (uint32_t i = 0; i < numbers.count && result == 0; i++) {
        if (i)
            result = put(out, ",");
        if (result == 0)
            result = put_unsigned(out, numbers.at[i]);
    }
    return result == 0 ? put(out, "]") : result;
}

static int put_value(struct buf *out, const struct layout_field *field, const void *at)
{
    switch ((enum layout_type)field->type) {
    case LAYOUT_U8:
        return put_unsigned(out, *(const uint8_t *)at);
    case LAYOUT_U16:
        return put_unsigned(out, *(const uint16_t *)at);
    case LAYOUT_U32:
        return put_unsigned(out, *(const uint32_t *)at);
    case LAYOUT_U64:
    case LAYOUT_FRAME:
    case LAYOUT_OPERATION:
        return put_unsigned(out, *(const uint64_t *)at);
    case LAYOUT_I32:
        return put_signed(out, *(const int32_t *)at);
    case LAYOUT_I64:
    case LAYOUT_TIME:
        return put_signed(out, *(const int64_t *)at);
    case LAYOUT_BOOL:
        return put(out, *(const bool *)at ? "true" : "false");
    case LAYOUT_BYTES:
        return put_hex(out, ((const struct bytes *)at)->data, ((const struct bytes *)at)->len);
    case LAYOUT_TEXT:
        return put_text(out, at);
    case LAYOUT_ADDRESS:
        return put_address(out, at);
    case LAYOUT_DIGEST:
        return put_hex(out, at, LAYOUT_DIGEST_LEN);
    case LAYOUT_HASH:
        return put_hash(out, *(const uint64_t *)at);
    case LAYOUT_NUMBERS:
        return put_numbers(out, at);
    case LAYOUT_TYPE_MAX:
        break;
    }
    return put(out, "null");
}

int layout_json(const struct format *format, unsigned number, const void *record, struct buf *out)
{
    const struct layout_kind *kind = &format->kinds[number < format->kind_max ? number : 0];

    if (put(out, "{\"kind\":\"") < 0 || put(out, kind->name ? kind->name : "unknown") < 0 ||
        put(out, "\"") < 0)
        return -ERR_SYSTEM;
    for (unsigned i = 0; i < kind->count; i++) {
        const struct layout_field *field = &kind->fields[i];

        if (put(out, ",\"") < 0 || put(out, field->name) < 0 || put(out, "\":") < 0 ||
            put_value(out, field, (const uint8_t *)record + field->offset) < 0)
            return -ERR_SYSTEM;
    }
    return put(out, "}");
}

int record_json(const struct record *record, struct buf *out)
{
    return layout_json(&nfsr_format, record->kind, record, out);
}
