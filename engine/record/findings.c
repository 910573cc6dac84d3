/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/findings.h"
#include "base/err.h"

#include <stdio.h>

int finding_add(struct buf *text, uint64_t *count, const char *where, const char *format,
                va_list args)
{
    char what[400], line[500];

    if ((*count)++ >= FINDINGS_SHOWN)
        return 0;
    vsnprintf(what, sizeof(what), format, args);
    snprintf(line, sizeof(line), "%.96s: %s\n", where, what);
    return buf_append(text, line, strlen(line)) < 0 ? -ERR_SYSTEM : 0;
}
