/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree/text.h"

#include <stdlib.h>

char *text_new(struct bytes text)
{
    char *copy = malloc((size_t)text.len + 4);

    if (!copy)
        return NULL;
    memcpy(copy, &text.len, 4);
    if (text.len)
        memcpy(copy + 4, text.data, text.len);
    return copy;
}
