/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/rate.h"
#include "base/values.h"

#include <stdio.h>
#include <string.h>

enum { SETTLED_MS = 1000, LEFT_MAX = 100 * 3600 };

static void add_left(double seconds, char text[RATE_TEXT_MAX])
{
    size_t len = strlen(text);
    long left = (long)(seconds + 0.5);

    if (left < 60)
        snprintf(text + len, RATE_TEXT_MAX - len, ", %ld s left", left);
    else if (left < 3600)
        snprintf(text + len, RATE_TEXT_MAX - len, ", %ld min %ld s left", left / 60, left % 60);
    else
        snprintf(text + len, RATE_TEXT_MAX - len, ", %ld h %ld min left", left / 3600,
                 left / 60 % 60);
}

const char *rate_text(struct rate *rate, uint64_t bytes, double part, int64_t now,
                      char text[RATE_TEXT_MAX])
{
    char size[VALUE_TEXT_MAX];
    double seconds, left;

    if (!rate->began || bytes < rate->last)
        *rate = (struct rate){ now, bytes, bytes, part };
    rate->last = bytes;
    seconds = (double)(now - rate->began) / 1000;
    snprintf(text, RATE_TEXT_MAX, "%s", size_text(bytes, size));
    if (part >= 0)
        snprintf(text + strlen(text), RATE_TEXT_MAX - strlen(text), ", %.0f %%", part * 100);
    if (now - rate->began < SETTLED_MS || bytes == rate->first)
        return text;
    snprintf(text + strlen(text), RATE_TEXT_MAX - strlen(text), ", %s/s",
             size_text((uint64_t)((double)(bytes - rate->first) / seconds), size));
    if (part <= rate->first_part || part > 1)
        return text;
    left = seconds * (1 - part) / (part - rate->first_part);
    if (left < LEFT_MAX)
        add_left(left, text);
    return text;
}
