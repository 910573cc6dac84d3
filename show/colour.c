/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_is_wanted(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return !(no && *no) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(out));
}

void colour_begin(FILE *out, bool wanted, enum colour colour)
{
    /* ECMA-48 s8.3.117: foreground red and green, bold */
    static const char *const begins[] = {
        [COLOUR_BAD] = "\033[31m", [COLOUR_GOOD] = "\033[32m", [COLOUR_HEAD] = "\033[1m"
    };

    if (wanted)
        fputs(begins[colour], out);
}

void colour_end(FILE *out, bool wanted)
{
    if (wanted)
        fputs("\033[0m", out);
}

void colour_put(FILE *out, bool wanted, enum colour colour, const char *text)
{
    colour_begin(out, wanted, colour);
    fputs(text, out);
    colour_end(out, wanted);
}
