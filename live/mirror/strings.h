/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/strings.h
 *
 * Many short byte strings that come and go: handles and names.  A string is known by its number and
 * its length, which the caller keeps.
 *
 * Memory: the length, rounded up to a multiple of 4, of the most strings of such a length that were
 * there at the same time; 1024 strings at a time (base/pool.h).
 */
#ifndef NFSDIGEST_MIRROR_STRINGS_H
#define NFSDIGEST_MIRROR_STRINGS_H

#include "base/bytes.h"
#include "base/pool.h"

enum { STRINGS_LENGTH_MAX = 255, STRINGS_CLASSES = STRINGS_LENGTH_MAX / 4 + 1 };

struct strings { /* all zeros: empty */
    struct pool classes[STRINGS_CLASSES];
};

/* A copy of 1 to 255 bytes; 0: no memory. */
uint32_t strings_add(struct strings *strings, struct bytes bytes);
void strings_remove(struct strings *strings, uint32_t number, uint32_t len);
void strings_free(struct strings *strings);
uint64_t strings_memory(const struct strings *strings);

static inline struct bytes strings_at(const struct strings *strings, uint32_t number, uint32_t len)
{
    if (!len)
        return (struct bytes){ 0 };
    return (struct bytes){ pool_at(&strings->classes[(len - 1) / 4], number), len };
}

#endif
