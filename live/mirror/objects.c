/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/objects.c
 *
 * Objects lie in a pool; handles and names lie in strings, by their lengths.  One object has one
 * place in each table of handles.
 *
 * A directory that is forgotten before its children keeps its slot, without a handle, until the
 * last of them has another parent: so no id of a parent ever stands for something else.
 */
#include "mirror/objects.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/texts.h"
#include "mirror/mirror_parts.h"

#include <stdlib.h>

static const uint64_t second = 1000000000;

static uint32_t hash_of(struct bytes handle)
{
    return (uint32_t)XXH3_64bits(handle.data, handle.len);
}

static uint32_t hash_of_handle(const void *mirror, uint32_t id)
{
    return hash_of(mirror_handle(mirror, mirror_slot(mirror, id)));
}

static uint32_t hash_of_sut_handle(const void *mirror, uint32_t id)
{
    return hash_of(mirror_sut_handle(mirror, mirror_slot(mirror, id)));
}

static bool are_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

/* --- strings that others may have, too */

struct bytes mirror_handle(const struct mirror *m, const struct mirror_object *object)
{
    if (object->shares_handle)
        return (struct bytes){ texts_at(m->shared, object->handle), object->handle_len };
    return strings_at(&m->strings, object->handle, object->handle_len);
}

struct bytes mirror_name(const struct mirror *m, const struct mirror_object *object)
{
    if (object->shares_name)
        return (struct bytes){ texts_at(m->shared, object->name), object->name_len };
    return strings_at(&m->strings, object->name, object->name_len);
}

/* 0: nobody else has it. */
static uint32_t shared_number(const struct mirror *m, struct bytes bytes)
{
    return m->shared ? texts_number(m->shared, bytes.data) : 0;
}

/* Its number; 0: no memory. */
static uint32_t keep(struct mirror *m, struct bytes bytes, bool *shares)
{
    uint32_t number = shared_number(m, bytes);

    *shares = number;
    return number ? number : strings_add(&m->strings, bytes);
}

static void let_go(struct mirror *m, uint32_t number, uint32_t len, bool shares)
{
    if (!shares)
        strings_remove(&m->strings, number, len);
}

/* The object has this handle already.  If others have it now, too, its own copy goes. */
static void share_handle(struct mirror *m, struct mirror_object *object, struct bytes handle)
{
    uint32_t number = object->shares_handle ? 0 : shared_number(m, handle);

    if (!number)
        return;
    strings_remove(&m->strings, object->handle, handle.len);
    object->handle = number;
    object->shares_handle = true;
}

static void share_name(struct mirror *m, struct mirror_object *object, struct bytes name)
{
    uint32_t number = object->shares_name ? 0 : shared_number(m, name);

    if (!number)
        return;
    strings_remove(&m->strings, object->name, name.len);
    object->name = number;
    object->shares_name = true;
}

struct bytes mirror_sut_handle(const struct mirror *m, const struct mirror_object *object)
{
    return strings_at(&m->strings, object->sut_handle, object->sut_handle_len);
}

struct mirror *mirror_open(uint64_t half_life, struct err *err)
{
    struct mirror *m;

    if (half_life < second) {
        err_set(err, ERR_USAGE, "the half-life of popularity: %g s is less than a second",
                (double)half_life / (double)second);
        return NULL;
    }
    m = calloc(1, sizeof(*m));
    if (!m || !pool_init(&m->objects, sizeof(struct mirror_object)) ||
        !pool_init(&m->directories, sizeof(struct directory))) {
        mirror_close(m);
        err_memory(err, "the table of objects");
        return NULL;
    }
    m->half_life = half_life;
    return m;
}

void mirror_share(struct mirror *m, const struct texts *texts)
{
    m->shared = texts;
}

void mirror_close(struct mirror *m)
{
    if (!m)
        return;
    pool_free(&m->objects);
    pool_free(&m->directories);
    index_free(&m->by_directory);
    index_free(&m->many_names);
    strings_free(&m->strings);
    compact_free(&m->by_handle);
    compact_free(&m->by_sut_handle);
    free(m->queue);
    free(m->changing);
    free(m);
}

struct mirror_object *mirror_find(const struct mirror *m, struct bytes handle)
{
    uint32_t at, hash = hash_of(handle), id = compact_first(&m->by_handle, hash, &at);

    for (; id; id = compact_next(&m->by_handle, hash, &at))
        if (are_equal(mirror_handle(m, mirror_slot(m, id)), handle))
            return mirror_slot(m, id);
    return NULL;
}

struct mirror_object *mirror_find_sut(const struct mirror *m, struct bytes handle)
{
    uint32_t at, hash = hash_of(handle), id = compact_first(&m->by_sut_handle, hash, &at);

    for (; id; id = compact_next(&m->by_sut_handle, hash, &at))
        if (are_equal(mirror_sut_handle(m, mirror_slot(m, id)), handle))
            return mirror_slot(m, id);
    return NULL;
}

/* Free slots, and those of forgotten directories, have no handle. */
struct mirror_object *mirror_at(const struct mirror *m, uint32_t id)
{
    struct mirror_object *object = id && id < m->objects.count ? mirror_slot(m, id) : NULL;

    return object && object->handle_len ? object : NULL;
}

struct mirror_object *mirror_next(const struct mirror *m, const struct mirror_object *after)
{
    for (uint32_t id = after ? after->id + 1 : 1; id < m->objects.count; id++) {
        struct mirror_object *object = mirror_at(m, id);

        if (object)
            return object;
    }
    return NULL;
}

struct mirror_object *mirror_add(struct mirror *m, struct bytes handle, struct err *err)
{
    const struct compact_keys keys = { hash_of_handle, m };
    struct mirror_object *object;
    bool shares = false;
    uint32_t id, string;

    if (!handle.len || handle.len > MIRROR_HANDLE_MAX) {
        err_set(err, ERR_INPUT, "a handle of %u bytes, 1 to %d are possible", handle.len,
                MIRROR_HANDLE_MAX);
        return NULL;
    }
    object = mirror_find(m, handle);
    if (object) {
        share_handle(m, object, handle);
        return object;
    }
    string = compact_reserve(&m->by_handle, 1, &keys) < 0 ? 0 : keep(m, handle, &shares);
    id = string ? pool_new(&m->objects) : 0;
    if (!id) {
        if (string)
            let_go(m, string, handle.len, shares);
        err_memory(err, "the table of objects");
        return NULL;
    }
    object = mirror_slot(m, id);
    object->id = id & INT32_MAX;
    object->handle = string;
    object->shares_handle = shares;
    object->handle_len = handle.len & 127;
    compact_put(&m->by_handle, hash_of(handle), id);
    m->count++;
    m->states[MIRROR_UNKNOWN]++;
    return object;
}

int mirror_set_sut_handle(struct mirror *m, struct mirror_object *object, struct bytes handle,
                          struct err *err)
{
    const struct compact_keys keys = { hash_of_sut_handle, m };
    struct mirror_object *other = handle.len ? mirror_find_sut(m, handle) : NULL;
    struct bytes old = mirror_sut_handle(m, object);
    uint32_t string = 0;

    if (handle.len > MIRROR_HANDLE_MAX)
        return err_set(err, ERR_INPUT, "a handle of %u bytes, 1 to %d are possible", handle.len,
                       MIRROR_HANDLE_MAX);
    if (other == object && other)
        return 0;
    if (handle.len) {
        string =
            compact_reserve(&m->by_sut_handle, 1, &keys) < 0 ? 0 : strings_add(&m->strings, handle);
        if (!string)
            return err_memory(err, "the handles of the SUT");
    }
    if (other)
        mirror_set_sut_handle(m, other, (struct bytes){ 0 }, NULL);
    if (old.len) {
        compact_take_out(&m->by_sut_handle, hash_of(old), object->id, &keys);
        strings_remove(&m->strings, object->sut_handle, old.len);
    }
    object->sut_handle = string & INT32_MAX;
    object->sut_handle_len = handle.len & 127;
    if (handle.len)
        compact_put(&m->by_sut_handle, hash_of(mirror_sut_handle(m, object)), object->id);
    return 0;
}

int mirror_set_state(struct mirror *m, struct mirror_object *object, enum mirror_state state,
                     struct err *err)
{
    if (state == object->state)
        return 0;
    if (state == MIRROR_QUEUED && queue_enter(m, object, err) < 0)
        return -ERR_SYSTEM;
    if (object->state == MIRROR_QUEUED)
        queue_leave(m, object);
    m->states[object->state]--;
    m->states[state]++;
    object->state = state & 7;
    return 0;
}

struct change_set *mirror_changes(const struct mirror *m, const struct mirror_object *object)
{
    for (uint32_t i = 0; object->has_changes && i < m->changing_count; i++)
        if (m->changing[i].id == object->id)
            return m->changing[i].changes;
    return NULL;
}

int mirror_set_changes(struct mirror *m, struct mirror_object *object, struct change_set *changes,
                       struct err *err)
{
    uint32_t at = 0;

    while (at < m->changing_count && m->changing[at].id != object->id)
        at++;
    if (changes && GROW(m->changing, at, m->changing_cap) < 0)
        return err_memory(err, "the table of objects");
    if (changes)
        m->changing[at] = (struct changing){ object->id, changes };
    if (changes && at == m->changing_count)
        m->changing_count++;
    if (!changes && at < m->changing_count)
        m->changing[at] = m->changing[--m->changing_count];
    object->has_changes = changes != NULL;
    return 0;
}

static void forget_name(struct mirror *m, struct mirror_object *object)
{
    struct mirror_object *parent;
    struct directory *directory;

    if (!object->name_len)
        return;
    let_go(m, object->name, object->name_len, object->shares_name);
    object->name = 0;
    object->name_len = 0;
    object->shares_name = false;
    parent = mirror_slot(m, object->parent);
    directory = directory_of(m, object->parent);
    object->parent = 0;
    if (--directory->children == 0 && !parent->handle_len) {
        directory_forget(m, parent->id);
        pool_give(&m->objects, parent->id);
    }
}

/* True if |object| is |below|, or above it.  A loop that escapes this, because it is longer than
 * the depth, escapes everybody else, too. */
static bool stands_above(const struct mirror *m, const struct mirror_object *object,
                         const struct mirror_object *below)
{
    for (int depth = 0; below && depth < MIRROR_DEPTH_MAX; depth++) {
        if (below == object)
            return true;
        below = mirror_at(m, below->parent);
    }
    return false;
}

static bool is_known_name(const struct mirror *m, const struct mirror_object *object,
                          const struct mirror_object *parent, struct bytes name)
{
    return object->name_len && object->parent == parent->id &&
           are_equal(mirror_name(m, object), name);
}

int mirror_add_name(struct mirror *m, struct mirror_object *object, struct mirror_object *parent,
                    struct bytes name, struct err *err)
{
    struct directory *directory;
    uint32_t string, names;
    bool shares;

    if (is_known_name(m, object, parent, name)) {
        share_name(m, object, name);
        return 0;
    }
    if (!object->name_len && name.len && name.len <= MIRROR_NAME_MAX &&
        !stands_above(m, object, parent)) {
        directory = directory_get(m, parent->id, err);
        if (!directory)
            return -ERR_SYSTEM;
        string = keep(m, name, &shares);
        if (!string)
            return err_memory(err, "the names of objects");
        object->name = string;
        object->shares_name = shares;
        object->name_len = name.len & 255;
        object->parent = parent->id;
        directory->children++;
    }
    names = mirror_names(m, object);
    return names < UINT16_MAX ? names_set(m, object, names + 1, err) : 0;
}

uint32_t mirror_remove_name(struct mirror *m, struct mirror_object *object,
                            const struct mirror_object *parent, struct bytes name)
{
    uint32_t names = mirror_names(m, object);

    if (is_known_name(m, object, parent, name))
        forget_name(m, object);
    if (names)
        names_set(m, object, --names, NULL); /* needs no memory */
    return names;
}

void mirror_forget(struct mirror *m, struct mirror_object *object)
{
    const struct compact_keys keys = { hash_of_handle, m };
    struct bytes handle = mirror_handle(m, object);
    const struct directory *directory = directory_of(m, object->id);
    uint32_t id = object->id;

    if (object->state == MIRROR_QUEUED)
        queue_leave(m, object);
    mirror_set_sut_handle(m, object, (struct bytes){ 0 }, NULL);
    compact_take_out(&m->by_handle, hash_of(handle), id, &keys);
    let_go(m, object->handle, handle.len, object->shares_handle);
    forget_name(m, object);
    names_set(m, object, 0, NULL);
    m->states[object->state]--;
    m->count--;
    if (directory && directory->children) {
        *object = (struct mirror_object){ .id = id & INT32_MAX };
        return;
    }
    directory_forget(m, id);
    pool_give(&m->objects, id);
}

int mirror_path(const struct mirror *m, const struct mirror_object *object, struct buf *to)
{
    const struct mirror_object *way[MIRROR_DEPTH_MAX];
    int count = 0;
    bool is_whole;

    while (object && !object->is_root && object->name_len && count < MIRROR_DEPTH_MAX) {
        way[count++] = object;
        object = mirror_at(m, object->parent);
    }
    is_whole = object && object->is_root;
    if (!is_whole && buf_append(to, "?", 1) < 0)
        return -ERR_SYSTEM;
    if (is_whole && !count && buf_append(to, "/", 1) < 0)
        return -ERR_SYSTEM;
    while (count-- > 0) {
        struct bytes name = mirror_name(m, way[count]);

        if (buf_append(to, "/", 1) < 0 || buf_append(to, name.data, name.len) < 0)
            return -ERR_SYSTEM;
    }
    return is_whole ? 0 : 1;
}

uint64_t mirror_count(const struct mirror *m)
{
    return m->count;
}

uint64_t mirror_count_state(const struct mirror *m, enum mirror_state state)
{
    return m->states[state];
}

uint64_t mirror_memory(const struct mirror *m)
{
    return sizeof(*m) +
           m->objects.chunk_count * (POOL_CHUNK * m->objects.size + sizeof(*m->objects.chunks)) +
           m->directories.chunk_count * POOL_CHUNK * m->directories.size +
           index_memory(&m->by_directory) + index_memory(&m->many_names) +
           strings_memory(&m->strings) + compact_memory(&m->by_handle) +
           compact_memory(&m->by_sut_handle) + m->queue_cap * sizeof(*m->queue);
}
