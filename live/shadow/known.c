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
    *k = (struct known){ .is_there = true, .epoch = k->epoch + 1 };
    return k;
}

struct known_rare *known_rare_get(struct shadow *s, struct known *k, struct err *err)
{
    if (!k->rare && (s->rare.chunk_count || pool_init(&s->rare, sizeof(struct known_rare))))
        k->rare = pool_new(&s->rare);
    if (k->rare)
        return pool_at(&s->rare, k->rare);
    err_memory(err, "objects");
    return NULL;
}

void known_forget(struct shadow *s, uint32_t object)
{
    struct known *k = known_of(s, object);

    for (uint32_t i = 0; i < NAMES_GONE; i++)
        if (s->names_gone[i].object == object)
            s->names_gone[i] = (struct name_gone){ 0 };
    if (k->rare)
        pool_give(&s->rare, k->rare);
    k->rare = 0;
    k->is_there = false;
}

void known_free_all(struct shadow *s)
{
    pool_free(&s->rare);
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
