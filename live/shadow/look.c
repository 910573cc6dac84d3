/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shadow/shadow_parts.h"

#include <stdio.h>

const struct teelog_group *shadow_differences(const struct shadow *s, uint32_t *count,
                                              uint64_t *further)
{
    if (s->log)
        return teelog_groups(s->log, count, further);
    *count = s->group_count;
    *further = s->further;
    return s->groups;
}

static bool could_be(enum mirror_state state)
{
    return state == MIRROR_UNKNOWN || state == MIRROR_QUEUED || state == MIRROR_COPYING ||
           state == MIRROR_DIVERGED;
}

static void describe(const struct shadow *s, struct shadow_object *to)
{
    struct buf path = { 0 };

    if (mirror_path(s->mirror, mirror_at(s->mirror, to->id), &path) >= 0)
        snprintf(to->path, sizeof(to->path), "%.*s", (int)path.len,
                 path.data ? (const char *)path.data : "");
    buf_free(&path);
}

uint32_t shadow_unsynchronized(const struct shadow *s, struct shadow_object *to, uint32_t most)
{
    int64_t now = loop_now(s->loop) + send_wall_clock_ahead();
    const struct mirror_object *object = NULL;
    uint32_t count = 0;
    uint64_t left = 0;

    for (int i = 0; i < MIRROR_STATES; i++)
        left += could_be((enum mirror_state)i) ? shadow_objects(s, (enum mirror_state)i) : 0;
    for (uint32_t n = 0; left && n < SHADOW_LOOKED_AT; n++) {
        double accesses;
        uint32_t at;

        object = mirror_next(s->mirror, object);
        if (!object)
            break;
        if (!could_be((enum mirror_state)object->state))
            continue;
        left--;
        accesses = mirror_popularity(s->mirror, object, now);
        for (at = count; at && to[at - 1].accesses < accesses; at--)
            if (at < most)
                to[at] = to[at - 1];
        if (at == most)
            continue;
        to[at] = (struct shadow_object){ .id = object->id,
                                         .state = (enum mirror_state)object->state,
                                         .accesses = accesses };
        count += count < most;
    }
    for (uint32_t i = 0; i < count; i++)
        describe(s, &to[i]);
    return count;
}
