/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/csv.h"

#include <stdio.h>
#include <string.h>

void csv_value(const char *text)
{
    if (!text[strcspn(text, "\",\r\n")]) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}
