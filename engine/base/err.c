/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list args;

    if (err) {
        err->code = code;
        va_start(args, format);
        vsnprintf(err->text, sizeof(err->text), format, args);
        va_end(args);
    }
    return -code;
}

int err_memory(struct err *err, const char *what)
{
    return err_set(err, ERR_SYSTEM, "out of memory for %s", what);
}

int err_prefix(struct err *err, const char *format, ...)
{
    char old[sizeof(err->text)];
    va_list args;
    int n;

    memcpy(old, err->text, sizeof(old));
    va_start(args, format);
    n = vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    /* what does not fit is cut off: the prefix matters more */
    if (n >= 0 && (size_t)n < sizeof(err->text) &&
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %.*s", (int)sizeof(old) - 1,
                 old) < 0)
        err->text[n] = '\0';
    return -err->code;
}
