/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout.c
 *
 * Prints a format's table as text.
 */
#include "record/format.h"

#include <stdio.h>

static const char *const type_names[LAYOUT_TYPE_MAX] = {
#define TYPE(type, name, in_record) name,
    LAYOUT_TYPES(TYPE)
#undef TYPE
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
