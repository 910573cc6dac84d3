/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_text.c
 *
 * Records of a dump as lines of text, which rdump_text_parse.c reads again.  Contract:
 * rdump_text.h.
 */
#include "rdump/rdump_text.h"
#include "rdump/rdump_format.h"
#include "base/escape.h"
#include "wire/walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { WRITE_AT_ONCE = 64 << 10 };

static int put(struct buf *out, const char *text)
{
    return buf_append(out, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static int put_number(struct buf *out, const char *format,
                                                            ...)
{
    char text[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return put(out, text);
}

static int put_hex(struct buf *out, struct bytes bytes)
{
    static const char digits[] = "0123456789abcdef";

    if (buf_reserve(out, 2 * (size_t)bytes.len) < 0)
        return -ERR_SYSTEM;
    for (uint32_t i = 0; i < bytes.len; i++) {
        out->data[out->len++] = (uint8_t)digits[bytes.data[i] >> 4];
        out->data[out->len++] = (uint8_t)digits[bytes.data[i] & 15];
    }
    return 0;
}

/* Escaped; spaces too, which stand between fields. */
static int put_text(struct buf *out, struct bytes text, bool is_path)
{
    size_t from = out->len, spaces = 0, to;

    if (escape_name(text, is_path, out) < 0)
        return -ERR_SYSTEM;
    for (size_t i = from; i < out->len; i++)
        spaces += out->data[i] == ' ';
    if (!spaces)
        return 0;
    if (buf_reserve(out, spaces * 3) < 0)
        return -ERR_SYSTEM;
    to = out->len + spaces * 3;
    for (size_t i = out->len; i-- > from;) {
        if (out->data[i] == ' ')
            memcpy(out->data + (to -= 4), "\\x20", 4);
        else
            out->data[--to] = out->data[i];
    }
    out->len += spaces * 3;
    return 0;
}

static int put_numbers(struct buf *out, struct layout_numbers numbers)
{
    int result = 0;

    for (uint32_t i = 0; i < numbers.count && result == 0; i++)
        result = put_number(out, i ? ",%u" : "%u", numbers.at[i]);
    return result;
}

/* How a field's number is read best. */
static int put_unsigned(struct buf *out, const char *name, uint64_t value)
{
    if (!strcmp(name, "mode"))
        return put_number(out, "0%" PRIo64, value);
    if (!strcmp(name, "mask") || !strcmp(name, "knows"))
        return put_number(out, "0x%" PRIx64, value);
    return put_number(out, "%" PRIu64, value);
}

static int put_field(struct buf *out, const struct layout_field *field, const void *at)
{
    uint64_t v = 0;
    bool is_signed = false;

    switch ((enum layout_type)field->type) {
    case LAYOUT_BYTES:
    case LAYOUT_TEXT:
        v = ((const struct bytes *)at)->len;
        break;
    case LAYOUT_NUMBERS:
        v = layout_numbers(at).count;
        break;
    case LAYOUT_U8:
        v = *(const uint8_t *)at;
        break;
    case LAYOUT_U16:
        v = *(const uint16_t *)at;
        break;
    case LAYOUT_U32:
        v = *(const uint32_t *)at;
        break;
    case LAYOUT_I64:
    case LAYOUT_TIME:
    case LAYOUT_OPERATION: /* ids of the database */
        is_signed = true;
        v = *(const uint64_t *)at;
        break;
    case LAYOUT_U64:
    case LAYOUT_HASH:
        v = *(const uint64_t *)at;
        break;
    case LAYOUT_I32:
    case LAYOUT_BOOL:
    case LAYOUT_ADDRESS:
    case LAYOUT_DIGEST:
    case LAYOUT_FRAME:
    case LAYOUT_TYPE_MAX: /* no dump has these */
        break;
    }
    if (!v)
        return 0;
    if (put(out, " ") < 0 || put(out, field->name) < 0 || put(out, "=") < 0)
        return -ERR_SYSTEM;
    if (field->type == LAYOUT_BYTES)
        return put_hex(out, *(const struct bytes *)at);
    if (field->type == LAYOUT_TEXT)
        return put_text(out, *(const struct bytes *)at, strcmp(field->name, "name") != 0);
    if (field->type == LAYOUT_NUMBERS)
        return put_numbers(out, layout_numbers(at));
    if (field->type == LAYOUT_HASH)
        return put_number(out, "0x%016" PRIx64, v);
    return is_signed ? put_number(out, "%" PRId64, (int64_t)v) : put_unsigned(out, field->name, v);
}

/* " what.dir=1", " what.name=hi": a field of the arguments.  Stops for lack of memory. */
static int put_argument(void *ctx, const struct visit *visit)
{
    struct buf *out = ctx;
    char path[WALK_PATH_MAX];
    const char *name;
    struct bytes bytes = { visit->data, visit->len };

    if (visit->whole)
        return 0;
    walk_path(visit->walk, visit->field, path);
    name = strchr(path, '.');
    if (put(out, " ") < 0 || put(out, name ? name + 1 : path) < 0 || put(out, "=") < 0)
        return -1;
    if (visit->field->cls == CLASS_DATA)
        return put_number(out, "(%u)", visit->full_len);
    if (visit->field->cls == CLASS_HANDLE && visit->len == 4)
        return put_number(out, "%u", load_be32(visit->data));
    if (visit->field->kind == XDR_STRING)
        return put_text(out, bytes, visit->field->cls != CLASS_NAME);
    if (visit->field->kind == XDR_OPAQUE || visit->field->kind == XDR_FIXED)
        return put_hex(out, bytes);
    if (visit->field->kind == XDR_I32)
        return put_number(out, "%" PRId64, (int64_t)visit->value);
    return put_number(out, visit->field->cls == CLASS_MODE ? "0%" PRIo64 : "%" PRIu64,
                      visit->value);
}

static int put_comment(struct buf *out, const struct rdump_operation *o, uint64_t number)
{
    const struct procedure *procedure = rdump_procedure(o->procedure);
    const struct visitor visitor = { .visit = put_argument, .ctx = out };
    struct walk w;

    if (put_number(out, " # %" PRIu64, number) < 0)
        return -ERR_SYSTEM;
    if (!procedure)
        return 0;
    if (put(out, " ") < 0 || put(out, procedure->name) < 0)
        return -ERR_SYSTEM;
    if (o->arguments.len && walk(&w, procedure->arguments, o->arguments.data, o->arguments.len,
                                 UINT32_MAX, true, &visitor) == WALK_STOPPED)
        return -ERR_SYSTEM;
    return 0;
}

int rdump_text_line(enum rdump_kind kind, const void *record, uint64_t number, struct buf *out)
{
    const struct layout_kind *layout = &rdump_format.kinds[kind];
    int result = put(out, layout->name);

    for (unsigned i = 0; i < layout->count && result == 0; i++)
        result =
            put_field(out, &layout->fields[i], (const uint8_t *)record + layout->fields[i].offset);
    if (result == 0 && kind == RDUMP_OPERATION)
        result = put_comment(out, record, number);
    return result == 0 ? put(out, "\n") : result;
}

static int put_json(enum rdump_kind kind, const void *record, struct buf *out)
{
    return layout_json(&rdump_format, kind, record, out) < 0 ? -ERR_SYSTEM : put(out, "\n");
}

int rdump_to_text(struct rdump_reader *reader, bool json, output_writer *write, void *ctx,
                  struct err *err)
{
    struct buf out = { 0 };
    uint64_t operations = 0;
    enum rdump_kind kind;
    const void *record;
    int result = 1, written = 0;

    if (!json)
        put_number(&out, "rdump %d.%d\n", RDUMP_VERSION_MAJOR, RDUMP_VERSION_MINOR);
    while (result > 0) {
        result = rdump_next(reader, &kind, &record, err);
        if (result > 0 && (json ? put_json(kind, record, &out)
                                : rdump_text_line(kind, record, operations, &out)) < 0)
            result = err_memory(err, "a line of text");
        operations += result > 0 && kind == RDUMP_OPERATION;
        if (out.len >= WRITE_AT_ONCE || (result <= 0 && out.len)) {
            struct err of_write;

            written = write(ctx, out.data, out.len, &of_write);
            out.len = 0;
            if (written < 0) { /* says more than damage would */
                *err = of_write;
                result = written;
            }
        }
    }
    buf_free(&out);
    return result;
}
