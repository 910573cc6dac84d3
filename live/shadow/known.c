/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"
#include "base/grow.h"
#include "shadow/shadow_parts.h"

#include <stdlib.h>

/* Room for all objects up to this one. */
static int reserve(struct shadow *s, uint32_t object)
{
    uint32_t chunks = object / KNOWN_CHUNK + 1;

    if (GROW(s->known, chunks, s->known_cap) < 0)
        return -ERR_SYSTEM;
    for (; s->known_chunks < chunks; s->known_chunks++)
        if (!(s->known[s->known_chunks] = calloc(KNOWN_CHUNK, sizeof(**s->known))))
            return -ERR_SYSTEM;
    if (object >= s->known_end)
        s->known_end = object + 1;
    return GROW(s->born, s->born_count, s->born_cap);
}

/* Ids follow each other, so they are good hashes. */
static uint32_t hash_of_rare(const void *shadow, uint32_t number)
{
    const struct shadow *s = shadow;
    const struct known_rare *rare = pool_at(&s->rare, number);

    return rare->object;
}

/* 0: it has none. */
static uint32_t find_rare(const struct shadow *s, uint32_t object)
{
    uint32_t at, number = compact_first(&s->by_rare, object, &at);

    while (number && hash_of_rare(s, number) != object)
        number = compact_next(&s->by_rare, object, &at);
    return number;
}

struct known_rare *known_rare_find(const struct shadow *s, uint32_t object)
{
    return known_of(s, object)->has_rare ? pool_at(&s->rare, find_rare(s, object)) : NULL;
}

struct known_rare *known_rare_get(struct shadow *s, uint32_t object, struct err *err)
{
    const struct compact_keys keys = { hash_of_rare, s };
    struct known_rare *rare = known_rare_find(s, object);
    uint32_t number = 0;

    if (rare)
        return rare;
    if ((s->rare.chunk_count || pool_init(&s->rare, sizeof(*rare))) &&
        compact_reserve(&s->by_rare, 1, &keys) == 0)
        number = pool_new(&s->rare);
    if (!number) {
        err_memory(err, "objects");
        return NULL;
    }
    rare = pool_at(&s->rare, number);
    rare->object = object;
    compact_put(&s->by_rare, object, number);
    known_of(s, object)->has_rare = true;
    return rare;
}

static void forget_rare(struct shadow *s, uint32_t object)
{
    const struct compact_keys keys = { hash_of_rare, s };
    uint32_t number = known_of(s, object)->has_rare ? find_rare(s, object) : 0;

    if (!number)
        return;
    compact_take_out(&s->by_rare, object, number, &keys);
    pool_give(&s->rare, number);
    known_of(s, object)->has_rare = false;
}

struct known *known_get(struct shadow *s, uint32_t object, struct err *err)
{
    struct known *k;

    if (reserve(s, object) < 0) {
        err_memory(err, "objects");
        return NULL;
    }
    k = known_of(s, object);
    if (k->is_there)
        return k;
    s->born[s->born_count++] = object;
    forget_rare(s, object); /* the copy may have found it before */
    *k = (struct known){ .is_there = true, .epoch = k->epoch + 1 };
    return k;
}

void known_forget(struct shadow *s, uint32_t object)
{
    struct known *k = known_of(s, object);

    for (uint32_t i = 0; i < NAMES_GONE; i++)
        if (s->names_gone[i].object == object)
            s->names_gone[i] = (struct name_gone){ 0 };
    forget_rare(s, object);
    k->is_there = false;
}

void known_free_all(struct shadow *s)
{
    pool_free(&s->rare);
    compact_free(&s->by_rare);
    for (uint32_t i = 0; i < s->known_chunks; i++)
        free(s->known[i]);
    free(s->known);
    free(s->born);
}

bool known_is_new(const struct shadow *s, uint32_t object)
{
    for (uint32_t i = 0; i < s->born_count; i++)
        if (s->born[i] == object)
            return true;
    return false;
}

struct mirror_object *known_object(struct shadow *s, struct bytes handle, struct err *err)
{
    struct mirror_object *object = mirror_add(s->mirror, handle, err);

    return object && known_get(s, object->id, err) ? object : NULL;
}

uint64_t seen_digest(uint64_t size, int64_t mtime, int64_t ctime)
{
    const uint64_t all[] = { size, (uint64_t)mtime, (uint64_t)ctime };

    return XXH3_64bits(all, sizeof(all)) & ((UINT64_C(1) << SEEN_DIGEST_BITS) - 1);
}

uint16_t seen_contents(uint64_t size, int64_t mtime)
{
    const uint64_t all[] = { size, (uint64_t)mtime };

    return (uint16_t)XXH3_64bits(all, sizeof(all));
}
