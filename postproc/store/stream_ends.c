/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/stream_ends.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void stream_ends_free(struct stream_ends *e)
{
    free(e->entries);
    table_free(&e->table);
    free(e->joins);
    table_free(&e->join_table);
    memset(e, 0, sizeof(*e));
}

int stream_ends_add(struct stream_ends *e, const struct stream_ends_entry *entry, struct err *err)
{
    if (!e->entries)
        e->entries = malloc(STREAM_ENDS_MAX * sizeof(*e->entries));
    if (!e->entries)
        return err_memory(err, "unpaired operations");
    if (e->count == STREAM_ENDS_MAX)
        return 0;
    if (table_add(&e->table, entry->key, e->count) < 0)
        return err_memory(err, "unpaired operations");
    e->entries[e->count++] = *entry;
    e->live++;
    return 0;
}

struct stream_ends_entry *stream_ends_find(struct stream_ends *e, uint64_t key,
                                           enum stream_ends_kind kind, uint32_t *at)
{
    uint32_t i =
        *at == UINT32_MAX ? table_first(&e->table, key, at) : table_next(&e->table, key, at);

    for (; i != TABLE_NONE; i = table_next(&e->table, key, at))
        if (e->entries[i].kind == kind)
            return &e->entries[i];
    return NULL;
}

void stream_ends_remove(struct stream_ends *e, struct stream_ends_entry *entry)
{
    table_remove(&e->table, entry->key, (uint32_t)(entry - e->entries));
    e->live--;
}

static uint64_t join_hash(int64_t id)
{
    return (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
}

int stream_ends_join(struct stream_ends *e, int64_t from, int64_t to, struct err *err)
{
    if (GROW(e->joins, e->join_count, e->join_cap) < 0)
        return err_memory(err, "unpaired operations");
    if (table_add(&e->join_table, join_hash(from), e->join_count) < 0)
        return err_memory(err, "unpaired operations");
    e->joins[e->join_count++] = (struct stream_ends_join){ from, to };
    return 0;
}

int64_t stream_ends_joined(const struct stream_ends *e, int64_t from)
{
    uint32_t at, i = table_first(&e->join_table, join_hash(from), &at);

    return i == TABLE_NONE ? from : e->joins[i].to; /* the hash is injective */
}

static uint64_t mix(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

uint64_t stream_ends_key(const char *client, const char *server, uint32_t xid)
{
    uint64_t h = mix(mix(UINT64_C(0xcbf29ce484222325), client), server);

    h = (h ^ xid) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
    return h * UINT64_C(0xd6e8feb86659fd93);
}
