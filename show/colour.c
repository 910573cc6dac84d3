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

void colour_put(FILE *out, bool wanted, enum colour colour, const char *text)
{
    /* ECMA-48 s8.3.117: foreground red and green, bold */
    static const char *const begins[] = {
        [COLOUR_BAD] = "\033[31m", [COLOUR_GOOD] = "\033[32m", [COLOUR_HEAD] = "\033[1m"
    };

    fprintf(out, "%s%s%s", wanted ? begins[colour] : "", text, wanted ? "\033[0m" : "");
}
