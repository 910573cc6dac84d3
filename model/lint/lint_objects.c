/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include "base/grow.h"

static uint64_t hash_of(uint32_t id)
{
    return id * UINT64_C(0x9e3779b97f4a7c15);
}

/* The place of the object that is forgotten next: none that an operation under way may change.
 * TABLE_NONE: there is no such object. */
static uint32_t forget(struct lint *lint)
{
    for (uint32_t tries = 0; tries < lint->object_count; tries++) {
        uint32_t at = lint->next;

        lint->next = (at + 1) % lint->object_count;
        if (lint->objects[at].active || lint->objects[at].links_active)
            continue;
        lint_contents_forget(lint, &lint->objects[at]);
        lint_names_forget(lint, &lint->objects[at]);
        lint_fileid_forget(lint, &lint->objects[at]);
        table_remove(&lint->by_id, hash_of(lint->objects[at].id), at);
        lint->counts.objects_forgotten++;
        return at;
    }
    return TABLE_NONE;
}

struct lint_object *lint_object(struct lint *lint, uint32_t id)
{
    uint64_t hash = hash_of(id);
    uint32_t at, place;

    if (!id)
        return NULL;
    for (uint32_t i = table_first(&lint->by_id, hash, &at); i != TABLE_NONE;
         i = table_next(&lint->by_id, hash, &at))
        if (lint->objects[i].id == id)
            return &lint->objects[i];
    place = lint->object_count < lint->options.objects ? TABLE_NONE : forget(lint);
    if (place == TABLE_NONE) {
        if (GROW(lint->objects, lint->object_count, lint->object_cap) < 0)
            return NULL;
        place = lint->object_count++;
    }
    lint->objects[place] = (struct lint_object){
        .id = id,
        .changed = INT64_MIN,
        .rights_changed = INT64_MIN,
        .links_changed = INT64_MIN,
        .spoiled = INT64_MIN,
        .epoch = ++lint->last_epoch,
    };
    return table_add(&lint->by_id, hash, place) < 0 ? NULL : &lint->objects[place];
}
