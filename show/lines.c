/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/lines.h"

void lines_again(FILE *to, unsigned count)
{
    if (count)
        fprintf(to, "\033[%uA\033[J", count);
    else
        fputs("\r\033[K", to);
}

void line_end(FILE *to)
{
    fputs("\033[K\n", to);
}

void line_rest(FILE *to)
{
    fputs("\033[K", to);
}

void lines_cut(FILE *to, bool cut)
{
    fputs(cut ? "\033[?7l" : "\033[?7h", to);
}
