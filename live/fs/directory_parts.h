/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/directory_parts.h
 *
 * What the files of directory.h share: chunks (directory.c) and the table (directory_table.c).
 */
#ifndef NFSDIGEST_FS_DIRECTORY_PARTS_H
#define NFSDIGEST_FS_DIRECTORY_PARTS_H

#include "fs/directory.h"

enum { CHUNK_BITS = 6, CHUNK_ENTRIES = 1 << CHUNK_BITS };

struct slot {
    uint32_t object;
    uint16_t name; /* where it begins */
    uint8_t len;
    uint8_t low; /* of the cookie: cookie % 64 */
};

struct chunk {
    uint8_t *names;
    uint16_t names_len, names_cap, dead; /* |dead|: bytes of names that are gone */
    uint8_t count, cap;
    struct slot slots[]; /* by |low| */
};

/* The entry of this name, by the table if there is one. */
bool table_seek(const struct directory *d, struct bytes name, struct directory_entry *entry);
/* Room for one more.  0 or -ERR_SYSTEM. */
int table_room(struct memory *m, struct directory *d);
void table_put(struct directory *d, const struct directory_entry *entry);
/* The entry leads to another object now. */
void table_set(struct directory *d, const struct directory_entry *entry);
/* Whether the place of an entry that is found leads to its object. */
bool table_leads(const struct directory *d, const struct directory_entry *entry);
void table_give(struct memory *m, struct directory *d);
/* Before the entry is taken out. */
void table_take(struct directory *d, const struct directory_entry *entry);
/* After that: a table that is too large becomes smaller, if there is memory for it. */
void table_shrink(struct memory *m, struct directory *d);

#endif
