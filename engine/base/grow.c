/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 4, FIRST_BYTES = 64 };

void *grow_array(void *array, size_t size, uint64_t need, uint64_t *cap, uint64_t most)
{
    uint64_t first = FIRST_BYTES / size > FIRST ? FIRST_BYTES / size : FIRST;
    uint64_t wide = *cap, more;

    if (most > SIZE_MAX / 2 / size)
        most = SIZE_MAX / 2 / size; /* from here on nothing wraps */
    if (need > most)
        return NULL;
    more = wide * size < GROW_DOUBLES ? wide : wide / 2;
    wide = wide + more > most ? most : wide + more;
    if (wide < first && first <= most)
        wide = first;
    if (wide < need)
        wide = need;
    array = realloc(array, (size_t)wide * size);
    if (array)
        *cap = wide;
    return array;
}

void *grow_zeroed(void *array, size_t size, uint64_t need, uint64_t *cap, uint64_t most)
{
    size_t old = (size_t)*cap;
    uint8_t *grown = grow_array(array, size, need, cap, most);

    if (grown)
        memset(grown + old * size, 0, ((size_t)*cap - old) * size);
    return grown;
}
