/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_json.c
 *
 * A record as one JSON object, from the table: for people and for tests.
 */
#include "record/format.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

static int put_unsigned(struct buf *out, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return json_put(out, text);
}

static int put_signed(struct buf *out, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    return json_put(out, text);
}

static int put_address(struct buf *out, const struct address *address)
{
    char text[ADDRESS_TEXT_MAX];

    if (!address->version)
        return json_put(out, "null");
    address_text(address, text);
    return json_put_text(out, (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) });
}

static int put_hash(struct buf *out, uint64_t hash)
{
    uint8_t bytes[8];

    store_be64(bytes, hash);
    return json_put_hex(out, (struct bytes){ bytes, sizeof(bytes) });
}

static int put_numbers(struct buf *out, const void *at)
{
    struct layout_numbers numbers = layout_numbers(at);
    int result = json_put(out, "[");

    for (uint32_t i = 0; i < numbers.count && result == 0; i++) {
        if (i)
            result = json_put(out, ",");
        if (result == 0)
            result = put_unsigned(out, numbers.at[i]);
    }
    return result == 0 ? json_put(out, "]") : result;
}

static int put_value(const struct format *format, struct buf *out, const struct layout_field *field,
                     const void *at)
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
    case LAYOUT_TIME:
        if (format->no_time && *(const int64_t *)at == format->no_time)
            break;
        return put_signed(out, *(const int64_t *)at);
    case LAYOUT_I64:
        return put_signed(out, *(const int64_t *)at);
    case LAYOUT_BOOL:
        return json_put(out, *(const bool *)at ? "true" : "false");
    case LAYOUT_BYTES:
        return json_put_hex(out, *(const struct bytes *)at);
    case LAYOUT_TEXT:
        return json_put_name(out, *(const struct bytes *)at);
    case LAYOUT_ADDRESS:
        return put_address(out, at);
    case LAYOUT_DIGEST:
        return json_put_hex(out, (struct bytes){ at, LAYOUT_DIGEST_LEN });
    case LAYOUT_HASH:
        return put_hash(out, *(const uint64_t *)at);
    case LAYOUT_NUMBERS:
        return put_numbers(out, at);
    case LAYOUT_TYPE_MAX:
        break;
    }
    return json_put(out, "null");
}

int layout_json(const struct format *format, unsigned number, const void *record, struct buf *out)
{
    const struct layout_kind *kind = &format->kinds[number < format->kind_max ? number : 0];

    if (json_put(out, "{\"kind\":\"") < 0 ||
        json_put(out, kind->name ? kind->name : "unknown") < 0 || json_put(out, "\"") < 0)
        return -ERR_SYSTEM;
    for (unsigned i = 0; i < kind->count; i++) {
        const struct layout_field *field = &kind->fields[i];

        if (json_put(out, ",\"") < 0 || json_put(out, field->name) < 0 ||
            json_put(out, "\":") < 0 ||
            put_value(format, out, field, (const uint8_t *)record + field->offset) < 0)
            return -ERR_SYSTEM;
    }
    return json_put(out, "}");
}

int record_json(const struct record *record, struct buf *out)
{
    return layout_json(&nfsr_format, record->kind, record, out);
}
