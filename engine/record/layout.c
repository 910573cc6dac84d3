/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout.c
 *
 * Prints a format's table as text.
 */
#include "record/format.h"

#include <stdio.h>

static const char *const type_names[LAYOUT_TYPE_MAX] = {
    [LAYOUT_U8] = "u8",         [LAYOUT_U16] = "u16",
    [LAYOUT_U32] = "u32",       [LAYOUT_U64] = "u64",
    [LAYOUT_I32] = "i32",       [LAYOUT_I64] = "i64",
    [LAYOUT_BOOL] = "bool",     [LAYOUT_BYTES] = "bytes",
    [LAYOUT_TEXT] = "text",     [LAYOUT_ADDRESS] = "address",
    [LAYOUT_DIGEST] = "digest", [LAYOUT_FRAME] = "frame",
    [LAYOUT_TIME] = "time",     [LAYOUT_OPERATION] = "operation",
    [LAYOUT_HASH] = "hash",     [LAYOUT_NUMBERS] = "numbers",
};

int layout_text(const struct format *format, struct buf *out)
{
    for (unsigned k = 1; k < format->kind_max; k++) {
        const struct layout_kind *kind = &format->kinds[k];
        char line[80];
        int n = snprintf(line, sizeof(line), "record %u %s\n", k, kind->name);

        if (buf_append(out, line, (size_t)n) < 0)
            return -ERR_SYSTEM;
        for (unsigned i = 0; i < kind->count; i++) {
            const struct layout_field *field = &kind->fields[i];

            n = snprintf(line, sizeof(line), "%s %s\n", field->name, type_names[field->type]);
            if (buf_append(out, line, (size_t)n) < 0)
                return -ERR_SYSTEM;
        }
    }
    return 0;
}
