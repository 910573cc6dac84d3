/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "align/changes.h"

#include "base/table.h"

#include <stdlib.h>
#include <xxhash.h>

struct object_changes {
    uint64_t sum, last, reads, rights;
};

struct name_change {
    uint64_t hash; /* of the directory and the name */
    uint64_t key;
};

struct changes {
    struct object_changes *objects;
    uint32_t limit;
    struct table by_name;
    struct name_change *names;
    uint32_t name_count, name_cap;
};

struct changes *changes_new(uint32_t objects, struct err *err)
{
    struct changes *c = calloc(1, sizeof(*c));

    if (c) {
        c->limit = objects < UINT32_MAX ? objects + 1 : objects;
        c->objects = calloc(c->limit, sizeof(*c->objects));
    }
    if (c && c->objects)
        return c;
    free(c);
    err_memory(err, "objects");
    return NULL;
}

void changes_free(struct changes *c)
{
    if (!c)
        return;
    free(c->objects);
    free(c->names);
    table_free(&c->by_name);
    free(c);
}

static struct object_changes *of_object(const struct changes *c, uint32_t object)
{
    return &c->objects[object < c->limit ? object : 0]; /* 0 is none: it stays empty */
}

static uint64_t name_hash(uint32_t directory, struct bytes name)
{
    return directory ? XXH3_64bits_withSeed(name.data, name.len, directory) : 0;
}

static uint32_t find_name(const struct changes *c, uint64_t hash)
{
    uint32_t at;

    return hash ? table_first(&c->by_name, hash, &at) : TABLE_NONE;
}

static int64_t of_name(const struct changes *c, uint32_t directory, struct bytes name)
{
    uint32_t slot = find_name(c, name_hash(directory, name));

    return slot == TABLE_NONE ? 0 : (int64_t)c->names[slot].key;
}

void changes_before(const struct changes *c, const struct effect *e, int64_t states[CHANGE_STATES])
{
    const struct object_changes *object = of_object(c, e->object);
    const struct object_changes *new_object = of_object(c, e->new_object);

    states[CHANGES_OBJECT] = (int64_t)object->sum;
    states[CHANGES_PARENT2] = (int64_t)of_object(c, e->parent2)->sum;
    states[CHANGES_NEW] = (int64_t)new_object->sum;
    states[READS_OBJECT] = (int64_t)object->reads;
    states[READS_NEW] = (int64_t)new_object->reads;
    states[RIGHTS_OBJECT] = (int64_t)object->rights;
    states[RIGHTS_NEW] = (int64_t)new_object->rights;
    states[CHANGE_NAME] = e->name_role ? of_name(c, e->object, e->name) : 0;
    states[CHANGE_NAME2] = e->name2_role ? of_name(c, e->parent2, e->name2) : 0;
    states[CHANGE_LAST] = (int64_t)object->last;
}

static int change_name(struct changes *c, uint32_t directory, struct bytes name, uint64_t key,
                       struct err *err)
{
    uint64_t hash = name_hash(directory, name);
    uint32_t slot = find_name(c, hash);

    if (slot != TABLE_NONE)
        c->names[slot].key = key;
    if (slot != TABLE_NONE || !hash)
        return 0;
    if (GROW(c->names, c->name_count, c->name_cap) < 0)
        return err_memory(err, "names");
    if (table_add(&c->by_name, hash, c->name_count) < 0)
        return err_memory(err, "names");
    c->names[c->name_count++] = (struct name_change){ hash, key };
    return 0;
}

static void change(const struct changes *c, uint32_t object, uint64_t key)
{
    if (object && object < c->limit) {
        c->objects[object].sum += key;
        c->objects[object].last = key;
    }
}

static void change_rights(const struct changes *c, uint32_t object, uint64_t key)
{
    if (object && object < c->limit)
        c->objects[object].rights = key;
}

int changes_note(struct changes *c, const struct effect *e, uint32_t gone, uint64_t key,
                 struct err *err)
{
    bool refused = e->rpc_status > 0 || (e->rpc_status == 0 && !e->succeeded);

    if (refused)
        return 0;
    if (effect_reads_contents(e) && e->object && e->object < c->limit)
        c->objects[e->object].reads += key;
    if ((e->object_role | e->name_role) & ROLE_MODIFIES)
        change(c, e->object, key);
    if (e->name2_role & ROLE_MODIFIES && e->parent2 != e->object)
        change(c, e->parent2, key);
    if (effect_makes_name(e))
        change(c, e->new_object, key);
    change(c, gone, key);
    change_rights(c, gone, key);
    if (effect_changes_rights(e))
        change_rights(c, e->object, key);
    if (e->name_role & ROLE_MODIFIES && change_name(c, e->object, e->name, key, err) < 0)
        return -err->code;
    return e->name2_role & ROLE_MODIFIES ? change_name(c, e->parent2, e->name2, key, err) : 0;
}
