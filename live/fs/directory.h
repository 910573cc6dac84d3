/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/directory.h
 *
 * The entries of one directory.  Each has a cookie, a number that only grows and is never used
 * again: entries are listed in its order, and a cookie stays good when its entry is gone.  Entries
 * of 64 numbers at a time form a chunk; a table from keyed hashes of names to cookies (of more than
 * DIRECTORY_SMALL entries) finds names.  "." and ".." are no entries.
 *
 * Objects know one of their names themselves, if it is short (struct inode in fs_parts.h): in a
 * large directory that name is compared, because the object is needed anyhow, and a chunk is not in
 * a cache.
 *
 * Memory: of a name of 20 bytes about 30 in its chunk, and 22 to 43 in the table; while the table
 * grows, half as much again.
 */
#ifndef NFSDIGEST_FS_DIRECTORY_H
#define NFSDIGEST_FS_DIRECTORY_H

#include "base/bytes.h"
#include "base/pool.h"
#include "fs/memory.h"

enum { DIRECTORY_SMALL = 12, DIRECTORY_FIRST_COOKIE = 3 };
#define DIRECTORY_COOKIE_MAX ((UINT64_C(1) << 48) - 1)

struct chunk; /* directory_parts.h */

struct span {
    uint64_t number;     /* of the chunk: cookie / 64 */
    struct chunk *chunk; /* NULL: it was emptied */
};

/* Of a name: what it leads to, and the lowest bits of its hash. */
struct place {
    uint32_t object; /* or PLACE_FREE, PLACE_GONE */
    uint32_t hash;
};

struct directory {
    struct span *spans; /* by number */
    uint32_t span_count, span_cap, span_gone;
    uint32_t count; /* entries */
    uint64_t last_cookie;
    uint64_t seed;
    const struct pool *objects; /* what entries lead to: struct inode */
    struct place *places;       /* the table; */
    uint64_t *cookies;          /* of its places, behind them */
    uint32_t place_count, filled;
};

struct directory_entry {
    uint64_t cookie;
    uint32_t object;
    struct bytes name; /* lives until the directory changes; of directory_find as it was given */
};

struct directory *directory_new(struct memory *m, const struct pool *objects, uint64_t seed);
void directory_free(struct memory *m, struct directory *d);

bool directory_find(const struct directory *d, struct bytes name, struct directory_entry *entry);
bool directory_at(const struct directory *d, uint64_t cookie, struct directory_entry *entry);
/* The next one behind |cookie|. */
bool directory_after(const struct directory *d, uint64_t cookie, struct directory_entry *entry);

/* Room for one entry with this cookie, which is not there, and a name of |len| bytes.  0 or
 * -ERR_SYSTEM. */
int directory_reserve(struct memory *m, struct directory *d, uint64_t cookie, uint32_t len);
/* Into that room.  The name is not there yet. */
void directory_add(struct directory *d, const struct directory_entry *entry);
/* Both of an entry that is there. */
void directory_remove(struct memory *m, struct directory *d, uint64_t cookie);
void directory_set(struct directory *d, uint64_t cookie, uint32_t object);

#endif
