/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/border.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void border_free(struct border *b)
{
    free(b->entries);
    table_free(&b->table);
    free(b->joins);
    table_free(&b->join_table);
    memset(b, 0, sizeof(*b));
}

int border_add(struct border *b, const struct border_entry *entry, struct err *err)
{
    if (!b->entries)
        b->entries = malloc(BORDER_MAX * sizeof(*b->entries));
    if (!b->entries)
        return err_memory(err, "unpaired operations");
    if (b->count == BORDER_MAX)
        return 0;
    if (table_add(&b->table, entry->key, b->count) < 0)
        return err_memory(err, "unpaired operations");
    b->entries[b->count++] = *entry;
    b->live++;
    return 0;
}

struct border_entry *border_find(struct border *b, uint64_t key, enum border_kind kind,
                                 uint32_t *at)
{
    uint32_t i =
        *at == UINT32_MAX ? table_first(&b->table, key, at) : table_next(&b->table, key, at);

    for (; i != TABLE_NONE; i = table_next(&b->table, key, at))
        if (b->entries[i].kind == kind)
            return &b->entries[i];
    return NULL;
}

void border_remove(struct border *b, struct border_entry *entry)
{
    table_remove(&b->table, entry->key, (uint32_t)(entry - b->entries));
    b->live--;
}

static uint64_t join_hash(int64_t id)
{
    return (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
}

int border_join(struct border *b, int64_t from, int64_t to, struct err *err)
{
    if (GROW(b->joins, b->join_count, b->join_cap) < 0)
        return err_memory(err, "unpaired operations");
    if (table_add(&b->join_table, join_hash(from), b->join_count) < 0)
        return err_memory(err, "unpaired operations");
    b->joins[b->join_count++] = (struct border_join){ from, to };
    return 0;
}

int64_t border_joined(const struct border *b, int64_t from)
{
    uint32_t at, i = table_first(&b->join_table, join_hash(from), &at);

    return i == TABLE_NONE ? from : b->joins[i].to; /* the hash is injective */
}

static uint64_t mix(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

uint64_t border_key(const char *client, const char *server, uint32_t xid)
{
    uint64_t h = mix(mix(UINT64_C(0xcbf29ce484222325), client), server);

    h = (h ^ xid) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    return h * UINT64_C(0xd6e8feb86659fd93);
}
