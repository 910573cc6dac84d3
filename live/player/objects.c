/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/objects.c
 *
 * Objects lie in chunks that never move.  Two tables (base/index.h) lead to them: one by
 * number, one by handle.  A place has 32 bits of the hash, so that a look-up touches no object, or
 * by handle, most of the time, one.
 */
#include "player/objects.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/index.h"

#include <stdlib.h>

enum {
    CHUNK = 1024, /* objects */
    NONE = INDEX_NONE,
};

struct objects {
    struct index by_number, by_handle;
    struct object **chunks;
    uint32_t chunk_count, chunk_cap;
    uint32_t slots; /* given out so far; free ones are in a list */
    uint32_t free;  /* the first free slot; its |number| is the next */
    uint64_t count;
};

static inline struct object *at_slot(const struct objects *o, uint32_t slot)
{
    return &o->chunks[slot / CHUNK][slot % CHUNK];
}

/* Different for different numbers: a place that has it has the number.  Numbers come in rows, and
 * with copies of a trace in steps, in which the lower bits of the hash are the same: index_home
 * mixes the upper ones in. */
static inline uint32_t hash_number(uint32_t number)
{
    return number * UINT32_C(0x9e3779b1);
}

static inline uint32_t hash_handle(uint32_t server, struct bytes handle)
{
    return (uint32_t)XXH3_64bits_withSeed(handle.data, handle.len, server);
}

/* Room for one more. */
static int make_room(struct index *index, struct err *err)
{
    return index_reserve(index, 1) < 0 ? err_memory(err, "the table of objects") : 0;
}

static inline uint32_t find_number(const struct objects *o, uint32_t number)
{
    return index_slot(&o->by_number, hash_number(number));
}

static inline bool has_handle(const struct object *object, uint32_t server, struct bytes handle)
{
    return object->server == server && object->handle_len == handle.len &&
           !memcmp(object->handle, handle.data, handle.len);
}

static struct index_place *find_handle(const struct objects *o, uint32_t hash, uint32_t server,
                                       struct bytes handle)
{
    uint32_t at;
    struct index_place *place = index_first(&o->by_handle, hash, &at);

    for (; place; place = index_next(&o->by_handle, hash, &at)) {
        if (has_handle(at_slot(o, place->slot), server, handle))
            return place;
    }
    return NULL;
}

struct objects *objects_open(struct err *err)
{
    struct objects *o = calloc(1, sizeof(*o));

    if (o)
        o->free = NONE;
    else
        err_memory(err, "objects");
    return o;
}

void objects_close(struct objects *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; i < o->chunk_count; i++)
        free(o->chunks[i]);
    free(o->chunks);
    index_free(&o->by_number);
    index_free(&o->by_handle);
    free(o);
}

static const struct index_place *place_of(const struct objects *o, uint32_t number)
{
    return &o->by_number.places[index_home(&o->by_number, hash_number(number))];
}

void objects_expect(const struct objects *o, uint32_t number)
{
    if (o->by_number.places)
        __builtin_prefetch(place_of(o, number));
}

void objects_expect_soon(const struct objects *o, uint32_t number)
{
    uint32_t slot = find_number(o, number);

    if (slot != NONE)
        __builtin_prefetch(at_slot(o, slot));
}

struct object *objects_find(struct objects *o, uint32_t number)
{
    uint32_t slot = find_number(o, number);

    return slot == NONE ? NULL : at_slot(o, slot);
}

void objects_expect_handle(const struct objects *o, uint32_t server, struct bytes handle,
                           struct objects_look *look)
{
    look->hash = hash_handle(server, handle);
    index_prefetch(&o->by_handle, look->hash);
}

void objects_expect_look(const struct objects *o, struct objects_look *look)
{
    look->slot = index_slot(&o->by_handle, look->hash);
    if (look->slot != NONE)
        __builtin_prefetch(at_slot(o, look->slot));
}

/* Others have a handle of the same hash. */
static __attribute__((noinline)) uint32_t look_further(const struct objects *o, uint32_t hash,
                                                       uint32_t server, struct bytes handle)
{
    const struct index_place *place = find_handle(o, hash, server, handle);

    return place ? at_slot(o, place->slot)->number : 0;
}

uint32_t objects_looked(const struct objects *o, const struct objects_look *look, uint32_t server,
                        struct bytes handle)
{
    const struct object *object;

    if (look->slot == NONE)
        return 0;
    object = at_slot(o, look->slot);
    return has_handle(object, server, handle) ? object->number
                                              : look_further(o, look->hash, server, handle);
}

uint32_t objects_number(const struct objects *o, uint32_t server, struct bytes handle)
{
    struct objects_look look = { .hash = hash_handle(server, handle) };

    look.slot = index_slot(&o->by_handle, look.hash);
    return objects_looked(o, &look, server, handle);
}

/* A slot that nobody uses: NONE without memory. */
static uint32_t new_slot(struct objects *o)
{
    uint32_t slot = o->free;

    if (slot != NONE) {
        o->free = at_slot(o, slot)->number;
        return slot;
    }
    if (o->slots == (uint64_t)o->chunk_count * CHUNK) {
        struct object *chunk;

        if (o->slots > NONE - 2 * CHUNK || GROW(o->chunks, o->chunk_count, o->chunk_cap) < 0)
            return NONE;
        chunk = aligned_alloc(_Alignof(struct object), CHUNK * sizeof(*chunk));
        if (!chunk)
            return NONE;
        o->chunks[o->chunk_count++] = chunk;
    }
    return o->slots++;
}

struct object *objects_add(struct objects *o, uint32_t number, struct err *err)
{
    struct object *object = objects_find(o, number);
    uint32_t slot;

    if (object)
        return object;
    if (make_room(&o->by_number, err) < 0)
        return NULL;
    slot = new_slot(o);
    if (slot == NONE) {
        err_memory(err, "objects");
        return NULL;
    }
    object = at_slot(o, slot);
    *object = (struct object){ .number = number, .maker = OBJECTS_NOBODY };
    index_put(&o->by_number, hash_number(number), slot);
    o->count++;
    return object;
}

/* Takes the object's own entry out of the table of handles; another object may have it by now. */
static void drop_handle(struct objects *o, const struct object *object, uint32_t slot)
{
    const struct bytes handle = { object->handle, object->handle_len };

    if (handle.len)
        index_take_out(&o->by_handle, hash_handle(object->server, handle), slot);
}

int objects_set_handle(struct objects *o, uint32_t server, struct object *object,
                       struct bytes handle, struct err *err)
{
    uint32_t hash = hash_handle(server, handle), slot;
    struct index_place *place;

    if (!handle.len || handle.len > OBJECT_HANDLE_MAX)
        return err_set(err, ERR_INPUT, "object %u: a handle of %u bytes, 1 to %d are possible",
                       object->number, handle.len, OBJECT_HANDLE_MAX);
    place = find_handle(o, hash, server, handle);
    if (place && at_slot(o, place->slot) == object)
        return 0;
    if (make_room(&o->by_handle, err) < 0)
        return -ERR_SYSTEM;
    slot = find_number(o, object->number);
    drop_handle(o, object, slot);
    /* taking one out has moved others */
    place = find_handle(o, hash, server, handle);
    if (place)
        place->slot = slot;
    else
        index_put(&o->by_handle, hash, slot);
    object->server = server;
    object->handle_len = (uint8_t)handle.len;
    memcpy(object->handle, handle.data, handle.len);
    return 0;
}

void objects_forget(struct objects *o, uint32_t number)
{
    uint32_t slot = find_number(o, number);
    struct object *object;

    if (slot == NONE)
        return;
    object = at_slot(o, slot);
    drop_handle(o, object, slot);
    index_take_out(&o->by_number, hash_number(number), slot);
    object->number = o->free;
    o->free = slot;
    o->count--;
}

uint64_t objects_count(const struct objects *o)
{
    return o->count;
}

uint64_t objects_memory(const struct objects *o)
{
    return sizeof(*o) + o->chunk_cap * sizeof(*o->chunks) +
           (uint64_t)o->chunk_count * CHUNK * sizeof(struct object) + index_memory(&o->by_number) +
           index_memory(&o->by_handle);
}
