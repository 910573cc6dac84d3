/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout_json.c
 *
 * Prints a record as one JSON object, from the table.  For people and tests.
 */
#include "record/format.h"
#include "base/json.h"

static void put_address(struct json *j, const char *key, const struct address *address)
{
    char text[ADDRESS_TEXT_MAX];

    json_text(j, key, address->version ? address_text(address, text) : NULL);
}

static void put_hash(struct json *j, const char *key, uint64_t hash)
{
    uint8_t bytes[8];

    store_be64(bytes, hash);
    json_hex(j, key, (struct bytes){ bytes, sizeof(bytes) });
}

static void put_numbers(struct json *j, const char *key, const void *at)
{
    struct layout_numbers numbers = layout_numbers(at);

    json_array(j, key);
    for (uint32_t i = 0; i < numbers.count; i++)
        json_u64(j, NULL, numbers.at[i]);
    json_array_end(j);
}

static void put_value(const struct format *format, struct json *j, const struct layout_field *field,
                      const void *at)
{
    const char *key = field->name;

    switch ((enum layout_type)field->type) {
    case LAYOUT_U8:
        json_u64(j, key, *(const uint8_t *)at);
        return;
    case LAYOUT_U16:
        json_u64(j, key, *(const uint16_t *)at);
        return;
    case LAYOUT_U32:
        json_u64(j, key, *(const uint32_t *)at);
        return;
    case LAYOUT_U64:
    case LAYOUT_FRAME:
    case LAYOUT_OPERATION:
        json_u64(j, key, *(const uint64_t *)at);
        return;
    case LAYOUT_I32:
        json_i64(j, key, *(const int32_t *)at);
        return;
    case LAYOUT_TIME:
        if (format->no_time && *(const int64_t *)at == format->no_time)
            break;
        json_i64(j, key, *(const int64_t *)at);
        return;
    case LAYOUT_I64:
        json_i64(j, key, *(const int64_t *)at);
        return;
    case LAYOUT_BOOL:
        json_bool(j, key, *(const bool *)at);
        return;
    case LAYOUT_BYTES:
        json_hex(j, key, *(const struct bytes *)at);
        return;
    case LAYOUT_TEXT:
        json_name(j, key, *(const struct bytes *)at);
        return;
    case LAYOUT_ADDRESS:
        put_address(j, key, at);
        return;
    case LAYOUT_DIGEST:
        json_hex(j, key, (struct bytes){ at, LAYOUT_DIGEST_LEN });
        return;
    case LAYOUT_HASH:
        put_hash(j, key, *(const uint64_t *)at);
        return;
    case LAYOUT_NUMBERS:
        put_numbers(j, key, at);
        return;
    case LAYOUT_TYPE_MAX:
        break;
    }
    json_null(j, key);
}

int layout_json(const struct format *format, unsigned number, const void *record, struct buf *out)
{
    const struct layout_kind *kind = &format->kinds[number < format->kind_max ? number : 0];
    struct json j = { .to = out };

    json_object(&j, NULL);
    json_text(&j, "kind", kind->name ? kind->name : "unknown");
    for (unsigned i = 0; i < kind->count; i++)
        put_value(format, &j, &kind->fields[i], (const uint8_t *)record + kind->fields[i].offset);
    json_object_end(&j);
    return j.failed ? -ERR_SYSTEM : 0;
}

int record_json(const struct record *record, struct buf *out)
{
    return layout_json(&nfsr_format, record->kind, record, out);
}
